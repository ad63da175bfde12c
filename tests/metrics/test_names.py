"""Names of metrics as real files spell them: what is read of each, and that spelling alone changes nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import InputError
from paragone.metrics import (
    asked_name,
    choose_metric,
    find_metric,
    find_metrics,
    named_metric,
    read_name,
    same_metric,
)
from paragone.metrics.names import ReadName

# name | metric | + higher, - lower, ? not known | part | statistic | rest
SPELLINGS = """
accuracy | accuracy | +
Accuracy | accuracy | +
acc | accuracy | +
ACC | accuracy | +
accuracy_score | accuracy | +
Accuracy (%) | accuracy | +
acc (↑) | accuracy | +
acc,none | accuracy | +
predictive_accuracy | accuracy | +
correct | accuracy | +
passed | accuracy | +
test_acc | accuracy | + | test
TestAcc_mean | accuracy | + | test | mean
best_test_acc | accuracy | + | test | best
chosen_test_acc | accuracy | + | test | | chosen
val/accuracy | accuracy | + | val
valid_acc | accuracy | + | val
eval_accuracy | accuracy | + | eval
testacc | accuracy | + | test
train-acc | accuracy | + | train
CV_Accuracy_Mean | accuracy | + | cv | mean
CV_Accuracy_Std | accuracy | ? | cv | std
accuracy_std | accuracy | ? | | std
acc_stderr,none | accuracy | ? | | stderr
mean_test_accuracy | accuracy | + | test | mean
std_test_accuracy | accuracy | ? | test | std
rank_test_accuracy | accuracy | - | test | rank
split0_test_accuracy | accuracy | + | test | | split0
HC2_accuracy | accuracy | + | | | HC2
CIFAR-10 accuracy | accuracy | + | | | CIFAR-10
accuracy_drop | accuracy | ? | | | drop
accuracy gain | accuracy | ? | | | gain
Balanced Accuracy | balanced_accuracy | +
BalAcc | balanced_accuracy | +
balanced_accuracy_score | balanced_accuracy | +
top1 | top1_accuracy | +
Top-1 Accuracy | top1_accuracy | +
acc@5 | top5_accuracy | +
top_5_acc | top5_accuracy | +
error | error_rate | -
Error (%) | error_rate | -
err | error_rate | -
AUROC | roc_auc | +
AUC-ROC | roc_auc | +
roc_auc | roc_auc | +
ROC-AUC Score | roc_auc | +
auc | roc_auc | +
RocAuc | roc_auc | +
area_under_roc_curve | roc_auc | +
roc_auc_ovr | roc_auc_ovr | +
pr auc | auprc | +
AUPRC | auprc | +
AP | average_precision | +
average_precision | average_precision | +
avg_precision | avg_precision | +
F1 | f1 | +
f1_score | f1 | +
F1-Score | f1 | +
F1Score | f1 | +
SADA-TestF1_mean | f1 | + | test | mean | SADA
f1_macro | f1_macro | +
F1 (macro) | f1_macro | +
Macro F1 | macro_f1 | +
Micro-F1 | micro_f1 | +
f1_weighted | f1_weighted | +
precision | precision | +
Precision (weighted) | precision_weighted | +
recall | recall | +
sensitivity | recall | +
specificity | specificity | +
MCC | matthews_corrcoef | +
matthews_corrcoef | matthews_corrcoef | +
kappa | cohen_kappa | +
Cohen's kappa | cohen_kappa | +
QWK | quadratic_weighted_kappa | +
g-mean | g_mean | +
log loss | log_loss | -
Log Loss__test | log_loss | - | test
logloss | log_loss | -
cross_entropy | log_loss | -
neg_log_loss | neg_log_loss | +
loss | loss | -
val_loss | loss | - | val
valLoss | loss | - | val
train_loss_epoch | loss | - | train
test/loss | loss | - | test
nll | nll | -
brier | brier_score | -
Brier score | brier_score | -
brier_score_loss | brier_score | -
ECE | ece | -
perplexity | perplexity | -
ppl | perplexity | -
word_perplexity | word_perplexity | -
bits_per_byte | bits_per_byte | -
MAE | mae | -
mae [kWh] | mae | -
Test MAE | mae | - | test
mean_absolute_error | mae | -
neg_mean_absolute_error | neg_mean_absolute_error | +
MSE | mse | -
Mse Score | mse | -
mean squared error | mse | -
test_neg_mean_squared_error | neg_mean_squared_error | + | test
RMSE | rmse | -
RMSE (m) | rmse | -
Train RMSE | rmse | - | train
root_mean_squared_error | rmse | -
neg_rmse | neg_root_mean_squared_error | +
NRMSE | nrmse | -
R2 | r2 | +
R² | r2 | +
R2 Score | r2 | +
r2_score | r2 | +
r2_test | r2 | + | test
Test R² | r2 | + | test
Max Error Score | max_error | -
Evs Score | explained_variance | +
MAPE | mape | -
sMAPE | smape | -
MASE | mase | -
WAPE | wape | -
CRPS | crps | -
NSE | nse | +
KGE | kge | +
Spearman's rho | spearman_r | +
spearman | spearman_r | +
cosine_spearman | spearman_r | +
pearson_r | pearson_r | +
bias | bias | ?
wer | wer | -
WER | wer | -
SADA WER | wer | - | | | SADA
Average WER | wer | - | | average
Avg. CER | cer | - | | average
TER | ter | -
BLEU | bleu | +
sacrebleu | bleu | +
chrF++ | chrf | +
rouge1 | rouge_1 | +
rougeL | rouge_l | +
ROUGE-L | rouge_l | +
rougeLsum | rouge_lsum | +
METEOR | meteor | +
BERTScore | bertscore | +
exact_match,strict-match | exact_match | + | | | strict-match
em | exact_match | +
acc_norm | acc_norm | +
prompt_level_strict_acc | prompt_level_strict_acc | +
pass@1 | pass@1 | +
pass@k | pass@k | +
win_rate | win_rate | +
Win Rate | win_rate | +
win_rate_avg | win_rate | + | | average
length_controlled_winrate | win_rate | +
Elo | elo | +
mean_reward | reward | + | | mean
episode_reward_mean | reward | + | | mean
eval/mean_reward | reward | + | eval | mean
std_reward | reward | ? | | std
episodic_return | return | +
ndcg@10 | ndcg@10 | +
NDCG@10 | ndcg@10 | +
ndcg_at_10 | ndcg@10 | +
ndcg[idcg=min]@10 | ndcg@10[idcg=min] | +
recall@5 | recall@5 | +
P@5 | precision@5 | +
Hits@10 | hit_rate@10 | +
mrr | mrr | +
MAP | map | +
map@100 | map@100 | +
mAP50-95 | map50_95 | +
mAP@0.5:0.95 | map50_95 | +
mAP50 | map50 | +
mIoU | miou | +
IoU | iou | +
Dice | dice | +
PSNR | psnr | +
SSIM | ssim | +
LPIPS ↓ | lpips | -
FID | fid | -
C2ST | c2st | -
silhouette | silhouette | +
ARI | adjusted_rand_score | +
NMI | normalized_mutual_info_score | +
latency | latency | -
throughput | throughput | +
fit_time | fit_time | - | | time
Time (mins) | time | - | | time
runtime | time | - | | time
training_time | fit_time | - | | time
score | score | +
test_score | score | + | test
rank_test_score | score | - | test | rank
cSIL (↑) | | + | | | cSIL (↑)
Average | | ? | | average
Average_Performance | score | + | | average
Average_Rank | | - | | rank
Wins | | ? | | count
n_wins | | ? | | count
# Dimensions | | ? | | count
#Samples | | ? | | count
n_features | | ? | | count
Outlier Perc | | ? | | property
max_tokens | | ? | | property
epoch | | ? | | property
lr/pg0 | | ? | | property
standard_error | | ? | | stderr
Forest | | ? | | | Forest
Random Forest | | ? | | | Random Forest
Adam | | ? | | | Adam
MAP-Elites | map | + | | | Elites
Rouge et Noir | rouge | + | | | et Noir
recall_net_v2 | recall | + | | | net_v2
Rank SVM | | ? | | | Rank SVM
N-BEATS | | ? | | | N-BEATS
Variance | | ? | | | Variance
AveragePerceptron | | ? | | | AveragePerceptron
GPT-4o | | ? | | | GPT-4o
Qwen2.5-7B | | ? | | | Qwen2.5-7B
my_score | score | + | | | my
en_mean | | ? | | | en_mean
"""


def _rows():
    for line in SPELLINGS.strip().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        name, metric, way, part, statistic, rest = cells + [""] * (6 - len(cells))
        higher = {"+": True, "-": False, "?": None}[way]
        yield name, ReadName(metric or None, higher, part or None, statistic or None, rest)


ROWS = list(_rows())


@pytest.mark.parametrize(("name", "wanted"), ROWS, ids=[name for name, _ in ROWS])
def test_a_real_spelling_is_read(name, wanted):
    assert read_name(name) == wanted


@given(st.sampled_from(ROWS), st.sampled_from([str.lower, str.upper, str]), st.sampled_from("_- "))
def test_capitals_and_separators_change_nothing(row, recase, separator):
    name, wanted = row
    # Capitals inside a word separate it, so only names whose words are separated may lose them.
    if any(one.islower() and other.isupper() for one, other in pairwise(name)):
        recase = str
    text = recase(name)
    for one in "_- ":
        text = text.replace(one, separator) if "@" not in name and "," not in name else text
    found = read_name(text)
    assert (found.metric, found.higher_is_better, found.part, found.statistic) == (
        wanted.metric,
        wanted.higher_is_better,
        wanted.part,
        wanted.statistic,
    )
    assert _letters(found.rest) == _letters(wanted.rest)


def _letters(text):
    return "".join(one for one in text.lower() if one.isalnum())


@given(st.text(max_size=80))
def test_any_text_is_read(text):
    found = read_name(text)
    assert found.metric is not None or found.statistic or found.part or found.rest == text.strip()


def test_a_score_is_a_whole_name_with_a_direction():
    scores = ("test_acc", "mean_reward", "RMSE (m)")
    others = ("accuracy_std", "fit_time", "recall_net_v2", "Average_Rank", "n_features", "bias")
    assert [read_name(name).is_score for name in (*scores, *others)] == [True] * 3 + [False] * 6


# Names that are printed are names that may be asked for


@pytest.mark.parametrize(
    ("name", "task", "found"),
    [
        ("AUROC", "classification", "roc_auc"),
        ("MCC", "classification", "matthews_corrcoef"),
        ("Log loss", "classification", "log_loss"),
        ("acc", "classification", "accuracy"),
        ("Macro F1", "classification", "f1_macro"),
        ("Macro-F1", "multilabel", "macro_f1"),
        ("MAE", "regression", "mae"),
        ("RMSE", "regression", "rmse"),
        ("R²", "regression", "r2"),
        ("neg_rmse", "regression", "neg_root_mean_squared_error"),
        ("F1 weighted", "classification", "f1_weighted"),
    ],
)
def test_a_printed_name_is_the_metric(name, task, found):
    assert find_metric(name, task).name == found


def test_several_names_stand_in_one_text():
    assert [one.name for one in find_metrics("AUROC, accuracy", "classification")] == [
        "roc_auc",
        "accuracy",
    ]


def test_a_wrong_name_never_points_at_another_metric():
    with pytest.raises(InputError, match="did you mean 'roc_auc'"):
        find_metric("AUROCC", "classification")
    with pytest.raises(InputError, match="unknown classification metric 'wer': choose one of"):
        find_metric("wer", "classification")
    with pytest.raises(InputError, match="choose one of accuracy, auprc"):
        choose_metric("AUROC", ["accuracy", "auprc"])


def test_names_of_one_metric_are_the_same():
    assert choose_metric("MAE", ["rmse", "mean_absolute_error"]) == "mean_absolute_error"
    assert choose_metric("f1 macro", ["macro_f1"]) == "macro_f1"
    assert not same_metric("test_acc", "train_acc")
    assert not same_metric("ndcg@5", "ndcg@10")
    assert [asked_name(name) for name in ("MAE", "gain", "test_acc")] == ["mae", "gain", "test_acc"]


def test_what_a_table_calls_a_metric_has_the_range_of_ours():
    known = named_metric("test_acc")
    assert (known.title, known.higher_is_better, known.highest) == ("test_acc", True, 1)
    assert named_metric("recall_net_v2").higher_is_better is None
    assert named_metric("smape").higher_is_better is False
