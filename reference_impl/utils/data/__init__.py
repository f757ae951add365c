"""``torch.utils.data``: datasets, samplers and the loader; it has no autograd of its own.

NB: batches are made in the loader's own process, one after the other, whatever ``num_workers`` says.
"""

from reference_impl.namespace.missing import loading
from reference_impl.utils.data.collate import default_collate, default_convert
from reference_impl.utils.data.dataloader import DataLoader, get_worker_info
from reference_impl.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from reference_impl.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset",
    "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler",
    "TensorDataset", "WeightedRandomSampler", "default_collate", "default_convert", "get_worker_info",
    "random_split",
]  # fmt: skip


__getattr__ = loading(__name__)
