"""The operators of torchvision's compiled library, in Python: torchvision itself is from PyPI.

operators     their signatures and kernels, defined when torchvision loads its library
nms           boxes that overlap: the best of each heap
regions       regions of images pooled to one size: roi_align, roi_pool and the position-sensitive
deform_conv   convolution whose kernel is bent at each place
"""
