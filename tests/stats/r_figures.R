# Figures of R for the tests of paragone.stats, kept in r_figures.json so that the tests need no R.
#
#   Rscript tests/stats/r_figures.R > tests/stats/r_figures.json
#
# Packages: coin (exact signed rank with ties and zeros, Friedman by permutation), exactRankTests (Hodges-Lehmann),
# sandwich and clubSandwich (clusters), jsonlite. Data are whole numbers over 64, so that both sides read the same.
suppressPackageStartupMessages({
  library(coin); library(exactRankTests); library(sandwich); library(clubSandwich); library(jsonlite)
})
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(17)

grid <- function(n, levels, shift) round(rnorm(n, shift, 1) * levels) / 64

sizes <- list(c(8, 2), c(12, 3), c(25, 4), c(40, 64), c(60, 3), c(100, 5), c(150, 64), c(250, 8), c(400, 6), c(500, 4),
              c(500, 64))
signed_rank <- lapply(sizes, function(size) {
  d <- grid(size[1], size[2], 0.12)
  one <- function(zeros) {
    test <- wilcoxsign_test(d ~ rep(0, length(d)), distribution = "exact", zero.method = zeros)
    as.numeric(pvalue(test))
  }
  list(d = d * 64, wilcox = one("Wilcoxon"), pratt = one("Pratt"))
})

hodges_lehmann <- lapply(c(6, 9, 15, 30, 49), function(n) {
  # Neither zeros nor equal magnitudes, for which both fall back to an approximation.
  d <- sample(600, n) * sample(c(-1, 1, 1), n, replace = TRUE) / 64
  lapply(c(0.8, 0.95, 0.99), function(level) {
    test <- suppressWarnings(wilcox.test(d, conf.int = TRUE, conf.level = level, exact = TRUE))
    theirs <- wilcox.exact(d, conf.int = TRUE, conf.level = level, exact = TRUE)
    list(d = d * 64, level = level, estimate = unname(test$estimate), interval = as.numeric(test$conf.int),
         achieved = attr(test$conf.int, "conf.level"),
         exact_estimate = unname(theirs$estimate), exact_interval = as.numeric(theirs$conf.int))
  })
})

# With ties: one shift of every cell between Walsh averages is tested by coin, from below and from above.
tied_interval <- lapply(c(8, 12, 20), function(n) {
  d <- sample(-3:9, n, replace = TRUE)
  walsh <- sort(unique(as.vector(outer(d, d, "+")) / 2))
  cells <- (c(walsh[1] - 1, walsh) + c(walsh, tail(walsh, 1) + 1)) / 2
  p <- function(shift, side) {
    beyond <- d - shift
    none <- rep(0, n)
    test <- wilcoxsign_test(beyond ~ none, distribution = "exact", alternative = side, zero.method = "Pratt")
    as.numeric(pvalue(test))
  }
  low <- walsh[which(sapply(cells, p, side = "greater") > 0.025)[1] - 1]
  high <- walsh[tail(which(sapply(cells, p, side = "less") > 0.025), 1)]
  list(d = d * 64, low = low, high = high)
})

tost <- lapply(c(8, 20, 45), function(n) {
  d <- sample(-60:64, n) / 64
  margin <- 0.505
  list(d = d * 64, margin = margin,
       greater = wilcox.exact(d, mu = -margin, alternative = "greater", exact = TRUE)$p.value,
       less = wilcox.exact(d, mu = margin, alternative = "less", exact = TRUE)$p.value)
})

friedman <- lapply(list(c(2, 2), c(5, 3), c(8, 3), c(4, 4), c(12, 4), c(6, 5)), function(size) {
  scores <- matrix(round(rnorm(prod(size), rep(seq_len(size[2]) / 3, each = size[1])), 1), size[1], size[2])
  long <- data.frame(y = as.vector(scores), m = factor(rep(seq_len(size[2]), each = size[1])),
                     b = factor(rep(seq_len(size[1]), size[2])))
  asymptotic <- friedman_test(y ~ m | b, data = long)
  set.seed(1)
  drawn <- friedman_test(y ~ m | b, data = long, distribution = approximate(nresample = 200000))
  list(scores = scores, chi2 = as.numeric(statistic(asymptotic)), p_chi2 = as.numeric(pvalue(asymptotic)),
       p_drawn = as.numeric(pvalue(drawn)), n_drawn = 200000)
})

quade <- lapply(list(c(6, 3), c(10, 4), c(15, 5)), function(size) {
  scores <- matrix(round(rnorm(prod(size), rep(seq_len(size[2]) / 3, each = size[1])), 2), size[1], size[2])
  test <- quade.test(scores)
  list(scores = scores, f = unname(test$statistic), p = test$p.value)
})

mcnemar <- lapply(list(c(9, 2), c(0, 7), c(30, 18), c(5, 5), c(120, 80)), function(count) {
  list(won = count[1], lost = count[2], p = binom.test(count[1], sum(count))$p.value)
})

clusters <- lapply(list(c(30, 5), c(40, 12), c(25, 3)), function(size) {
  g <- c(seq_len(size[2]), sample(seq_len(size[2]), size[1] - size[2], replace = TRUE, prob = seq_len(size[2])))
  d <- round((rnorm(size[1], 0.3) + rnorm(size[2])[g]) * 64) / 64
  fit <- lm(d ~ 1)
  cr2 <- coef_test(fit, vcov = "CR2", cluster = g, test = "Satterthwaite")
  ones <- rep(seq_len(size[2]), length.out = size[1] - size[1] %% size[2])
  balanced <- lm(d[seq_along(ones)] ~ 1)
  list(d = d * 64, cluster = g, mean = unname(coef(fit)), error = as.numeric(cr2$SE), df = as.numeric(cr2$df),
       p = as.numeric(cr2$p_Satt), balanced = ones,
       balanced_error = sqrt(as.numeric(vcovCL(balanced, cluster = ones, type = "HC1"))))
})

versions <- sapply(c("coin", "exactRankTests", "sandwich", "clubSandwich"), function(p) as.character(packageVersion(p)))
cat(toJSON(list(r = R.version.string, packages = as.list(versions), signed_rank = signed_rank,
                hodges_lehmann = unlist(hodges_lehmann, recursive = FALSE), tied_interval = tied_interval, tost = tost,
                friedman = friedman, quade = quade, mcnemar = mcnemar, clusters = clusters),
           digits = NA, auto_unbox = TRUE), "\n")
