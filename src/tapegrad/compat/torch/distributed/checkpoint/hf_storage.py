"""Folders of shards in the safetensors format: PyTorch's readers and writers, by name."""

from tapegrad.compat.torch.distributed.refusal import refusing

_ADVICE = "torch.safetensors.save_file and load_file write and read whole tensors."

HuggingFaceStorageReader = refusing("checkpoint.hf_storage.HuggingFaceStorageReader", _ADVICE)
HuggingFaceStorageWriter = refusing("checkpoint.hf_storage.HuggingFaceStorageWriter", _ADVICE)
