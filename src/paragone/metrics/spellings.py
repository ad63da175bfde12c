"""The table of metric names: how people and programs spell them, which way is better, and the words beside them.

Data alone; `paragone.metrics.names` reads it. A line that begins with a space belongs to the one above.
"""

TABLE = """
accuracy = acc, accuracy_score, predictive_accuracy, classification_accuracy,
    categorical_accuracy, sparse_categorical_accuracy, binary_accuracy, correct, is_correct,
    passed, percent_correct
balanced_accuracy = balacc, bal_acc, balanced_acc, bacc, balanced_accuracy_score,
    macro_averaged_recall
error_rate = err, error, zero_one_loss, classification_error, misclassification_rate,
    misclassification_error
f1 = f_measure, f_score, f1_measure, fscore, fmeasure
f1_macro = macro_averaged_f1
precision = prec, positive_predictive_value, ppv
recall = sensitivity, true_positive_rate, tpr
specificity = true_negative_rate, tnr
matthews_corrcoef = mcc, matthews_correlation_coefficient, matthews_corr, matthews
cohen_kappa = kappa, cohens_kappa, kappa_score, cohen_kappa_score
quadratic_weighted_kappa = qwk, weighted_kappa, quadratic_kappa
jaccard = jaccard_index, jaccard_similarity
roc_auc = auc_roc, area_under_roc_curve, area_under_curve, roc, rocauc, aucroc
auprc = pr_auc, auc_pr, aucpr, prauc, area_under_precision_recall_curve, area_under_prc
log_loss = logloss, cross_entropy, crossentropy, binary_crossentropy, categorical_crossentropy,
    sparse_categorical_crossentropy, multi_logloss, binary_logloss, mlogloss, bce
r2 = r_squared, rsquared, r2_score, rsq, coefficient_of_determination, coef_of_determination
explained_variance = evs, explained_variance_score
rmse = root_mse, root_mean_square_error
mse = l2_loss, mean_square_error
mae = l1_loss, mean_abs_error
mape = mean_abs_percentage_error
median_ae = medae, median_abs_error
pearson_r = pearson, pearsonr, pearson_correlation, pearson_corr, pcc, correlation, corr,
    correlation_coefficient, cosine_pearson
spearman_r = spearman, spearmanr, spearman_correlation, spearman_rho, srcc, spearman_corr,
    cosine_spearman
subset_accuracy = exact_match_ratio
avg_precision = label_ranking_average_precision, lrap
map = mean_average_precision, map_score
mrr = mean_reciprocal_rank
ndcg = ndcg_score, normalized_dcg
hit_rate = hitrate, hit_ratio
average_precision + Average precision | ap, average_precision_score
adjusted_mutual_info_score + Adjusted mutual information | ami, adjusted_mutual_info
adjusted_rand_score + Adjusted Rand index | ari, adjusted_rand_index, adjusted_rand
completeness_score + Completeness | completeness
d2_absolute_error_score + D2 of absolute errors | d2_absolute_error
d2_brier_score + D2 of Brier scores
d2_log_loss_score + D2 of log losses | d2_log_loss
f1_micro + Micro F1
f1_samples + F1 per sample
f1_weighted + Weighted F1 | weighted_f1
fowlkes_mallows_score + Fowlkes-Mallows index | fmi, fowlkes_mallows
homogeneity_score + Homogeneity | homogeneity
jaccard_macro + Macro Jaccard index
jaccard_micro + Micro Jaccard index
jaccard_samples + Jaccard index per sample
jaccard_weighted + Weighted Jaccard index
mutual_info_score + Mutual information | mutual_information
normalized_mutual_info_score + Normalized mutual information | nmi, normalized_mutual_info
positive_likelihood_ratio + Positive likelihood ratio
precision_samples + Precision per sample
precision_weighted + Weighted precision
rand_score + Rand index
recall_micro + Micro recall
recall_samples + Recall per sample
recall_weighted + Weighted recall
roc_auc_ovo + AUROC, one against one
roc_auc_ovo_weighted + AUROC, one against one, weighted
roc_auc_ovr + AUROC, one against the rest
roc_auc_ovr_weighted + AUROC, one against the rest, weighted
top_k_accuracy + Top-k accuracy | top_k_acc
v_measure_score + V-measure | v_measure
neg_brier_score + Negative Brier score | neg_brier
neg_log_loss + Negative log loss | neg_logloss
neg_max_error + Negative largest error
neg_mean_absolute_error + Negative MAE | neg_mae
neg_mean_absolute_percentage_error + Negative MAPE | neg_mape
neg_mean_gamma_deviance + Negative gamma deviance
neg_mean_poisson_deviance + Negative Poisson deviance
neg_mean_squared_error + Negative MSE | neg_mse
neg_mean_squared_log_error + Negative MSLE | neg_msle
neg_median_absolute_error + Negative median absolute error
neg_negative_likelihood_ratio + Negative of the negative likelihood ratio
neg_root_mean_squared_error + Negative RMSE | neg_rmse
neg_root_mean_squared_log_error + Negative RMSLE | neg_rmsle
brier_score - Brier score | brier, brier_loss, brier_score_loss
mean_gamma_deviance - Gamma deviance
mean_poisson_deviance - Poisson deviance | poisson_deviance
mean_squared_log_error - MSLE | msle, mean_squared_logarithmic_error
negative_likelihood_ratio - Negative likelihood ratio
root_mean_squared_log_error - RMSLE | rmsle
score + | scores, points_scored, performance
main_score +
metric_error -
top1_accuracy + | top1, top_1, top1_acc, top_1_accuracy, top_1_acc, acc1, acc@1, accuracy@1
top5_accuracy + | top5, top_5, top5_acc, top_5_accuracy, top_5_acc, acc5, acc@5, accuracy@5
acc_norm + | accuracy_norm, normalized_accuracy
acc_bytes + |
acc_mutual_info + |
acc_all + |
prompt_level_strict_acc + |
prompt_level_loose_acc + |
inst_level_strict_acc + |
inst_level_loose_acc + |
exact_match + | em, exact_match_score, exact_match_indicator
quasi_exact_match + | qem
prefix_exact_match + | pem
quasi_prefix_exact_match + | pqem
extractive_match + |
contains + |
likelihood + |
loglikelihood + | log_likelihood, ll, elpd, log_predictive_density, test_ll
g_mean + | gmean, geometric_mean
npv + | negative_predictive_value
fpr - | false_positive_rate, false_alarm_rate, fall_out
fnr - | false_negative_rate, miss_rate
f2 + | f2_score
f_beta + | fbeta, fbeta_score
youden_j + | youden, informedness
lift + |
gini + | gini_coefficient, normalized_gini
eer - | equal_error_rate
hinge_loss - |
loss - | losses
training_loss - |
objective ? |
nll - | negative_log_likelihood, neg_log_likelihood
bits_per_byte - | bpb
bits_per_character - | bpc
bits_per_dim - | bpd
kl_divergence - | kl, kld, kl_div
focal_loss - |
perplexity - | ppl
word_perplexity - |
byte_perplexity - |
ece - | expected_calibration_error, calibration_error
mce - | maximum_calibration_error
smape - | symmetric_mape, symmetric_mean_absolute_percentage_error
mdape - | median_absolute_percentage_error
mase - | mean_absolute_scaled_error
rmsse - | root_mean_squared_scaled_error
msse - |
msis - |
owa - |
wape - | wmape, weighted_absolute_percentage_error
rmspe - |
mspe - |
mpe ? | mean_percentage_error
mean_error ? | mean_bias_error, mbe, pbias, percent_bias
wrmsse - |
rae - | relative_absolute_error
rse - | relative_squared_error, rrse, root_relative_squared_error
pinball_loss - | pinball, quantile_loss, ql, mean_quantile_loss
crps - | continuous_ranked_probability_score
crps_sum - |
energy_score - |
wql - | weighted_quantile_loss
interval_score - | winkler_score, mis
nse + | nash_sutcliffe, nash_sutcliffe_efficiency
kge + | kling_gupta, kling_gupta_efficiency
concordance_index + | c_index, cindex, harrell_c, concordance
ccc + | concordance_correlation_coefficient
kendall_tau + | kendall, kendalltau, tau_b
mutual_info + |
silhouette + | silhouette_score, silhouette_coefficient
calinski_harabasz + | calinski_harabasz_score, ch_index
davies_bouldin - | davies_bouldin_score, davies_bouldin_index, db_index
purity + |
modularity + |
inertia - | sse, sum_of_squared_errors
c2st - | c2st_accuracy
mmd - | maximum_mean_discrepancy
wasserstein - | wasserstein_distance, emd, sinkhorn
hausdorff - | hausdorff_distance, hd95
chamfer - | chamfer_distance
regret - | simple_regret, cumulative_regret
optimality_gap - |
hypervolume + |
igd - |
wer - | word_error_rate
cer - | character_error_rate
mer - | match_error_rate
wil - | word_information_lost
per - | phoneme_error_rate
ter - | translation_edit_rate
der - | diarization_error_rate
bleu + | sacrebleu, bleu_score
bleu_1 + | bleu1
bleu_2 + | bleu2
bleu_3 + | bleu3
bleu_4 + | bleu4
chrf + | chrf++, chrf_score
comet + | comet_score
bleurt + |
rouge + | rouge_score
rouge_1 + | rouge1, rouge1_f1
rouge_2 + | rouge2, rouge2_f1
rouge_l + | rougel, rougel_f1
rouge_lsum + | rougelsum
meteor + | meteor_score
cider + |
spice + |
bertscore + | bert_score, bertscore_f1
edit_distance - | levenshtein, levenshtein_distance
faithfulness + |
pass@k + |
maj@k + |
cons@k + |
success@k + |
rr@k + |
ap@k + |
rprec + | r_precision, r_prec
bpref + |
recip_rank + | reciprocal_rank
win_rate + | winrate, lc_win_rate, length_controlled_winrate, length_controlled_win_rate,
    win_percentage, win_pct
success_rate + | success, solve_rate, completion_rate, solved, pass_rate
elo + | elo_rating, elo_score
preference + |
reward + | rewards, episode_reward, ep_rew, episodic_reward, total_reward, cumulative_reward,
    ep_reward
return + | returns, episode_return, episodic_return, ep_return, discounted_return,
    cumulative_return, human_normalized_score, hns
episode_length ? | ep_len, ep_length, episode_len
sharpe + | sharpe_ratio
fitness ? |
utility + |
profit + |
cost - |
iou + | intersection_over_union
miou + | mean_iou, mean_intersection_over_union
map50 + | map_50, map@0.5, map@50, ap50
map75 + | map_75, map@0.75, ap75
map50_95 + | map_50_95, map@0.5:0.95, map@50:95, map@[0.5:0.95], map50:95
dice + | dice_score, dice_coefficient, dsc, dice_similarity_coefficient
dice_loss - |
panoptic_quality + | pq
psnr + |
ssim + | ms_ssim, structural_similarity
lpips - |
fid - | frechet_inception_distance, fid_score
kid - |
inception_score + |
clip_score + | clipscore
epe - | end_point_error
abs_rel - |
sq_rel - |
ade - | average_displacement_error
fde - | final_displacement_error
mpjpe - |
hota + |
mota + |
idf1 + |
hamming - |
diversity + |
toxicity - |
hallucination_rate - |
refusal_rate ? |
demographic_parity_difference - | equalized_odds_difference
attack_success_rate ? | asr
robust_accuracy + | robust_acc, adversarial_accuracy
forgetting - |
throughput + | tokens_per_second, samples_per_second, images_per_second, items_per_second, tok_s,
    it_s, img_s, fps, tps, qps, ops_per_second, steps_per_second
speedup + | speed_up
latency - | response_time, time_to_first_token, ttft
time - | times, seconds, runtime, run_time, duration, wall_time, walltime, wall_clock,
    wall_clock_time, elapsed, elapsed_time, total_time, cpu_time, gpu_time, execution_time,
    exec_time, computation_time, computing_time, cpu_seconds, time_s, time_sec, time_secs,
    time_seconds, time_ms, duration_s, duration_seconds, runtime_s, runtime_seconds, hours,
    minutes
fit_time - | training_time, train_time, fitting_time, time_fit, time_train, training_duration,
    training_seconds, train_runtime
score_time - | scoring_time
predict_time - | prediction_time, inference_time, test_time, eval_time, eval_runtime,
    predict_duration, inference_duration
memory - | memory_usage, peak_memory, max_memory, memory_mb, ram, ram_usage, gpu_memory
model_size - |
energy - | energy_consumption, co2, emissions, co2_emissions
"""
"""A metric each: its name, how it goes, its title where that differs, and its other spellings.

``=`` is one of the registry, which has its direction and title; ``+`` is better higher, ``-`` lower,
``?`` neither by itself.
"""

PARTS = """
train: train training tr trn
test: test testing tst holdout
val: val valid validation dev
eval: eval evaluation
cv: cv oof crossval crossvalidated
"""
"""Words for the part of the data that a value is of."""

STATISTICS = """
stderr: stderr se sem
std: std stdev stddev sd deviation variance var ci lower upper iqr q25 q75
rank: rank ranks ranking
count: count counts wins ties n num number
best: best
min: min minimum
max: max maximum
median: median med
last: final last
sum: sum total
average: average avg averaged overall
mean: mean
"""
"""Words for what stands in the place of the value itself; of several in one name the first here counts."""

OTHERS = """
beside: se sem sd deviation variance var ci lower upper n num number med
averages: macro micro weighted samples ovr ovo binary
fillers: score scores value values metric metrics of the in on epoch per result results
units: % pct percent percentage pp points m s ms us ns sec secs second seconds min mins minutes h hr
    hrs hours days kwh mwh mw kw w k c f °c °f km cm mm kg g mg l ha mb gb kb bytes bits db usd eur $ €
changes: drop drops gain gains improvement improvements reduction gap delta diff difference change
    increase decrease degradation skill ratio
times: time fit_time score_time predict_time
sizes: memory model_size
"""
"""Words that are a statistic only beside a metric; averages over classes; words that add nothing; units; words
that turn a metric into its change, of which nobody knows the better way; metrics that are times or sizes."""
