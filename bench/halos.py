#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the halos of networks from PyPI, with random weights, with the elements that NaN reaches; prints a table.

usage: bench/halos.py [NAME..]

Needs torch, torchvision, timm, segmentation-models-pytorch and monai; a network whose package is missing is skipped. Exits
with 1 if a halo from the graph is not the measured one. A network is run once for each place up to its alignment, along a
long and narrow picture. NaN spreads to exactly the elements that see it, also where weights are too small to change a
number.
"""

import importlib
import sys
import time
from fractions import Fraction

import torch
from patchfold.models import ModelError, halo

# Values that differ between networks: package, how it is made, and what of it is run.
NETWORKS = {
    "resnet18": ("torchvision.models", lambda m: trunk(m.resnet18())),
    "vgg11": ("torchvision.models", lambda m: m.vgg11(weights=None).features),
    "squeezenet1_1": ("torchvision.models", lambda m: m.squeezenet1_1().features),
    "mobilenet_v2": ("torchvision.models", lambda m: m.mobilenet_v2().features),
    "mobilenet_v3_small": ("torchvision.models", lambda m: m.mobilenet_v3_small().features),
    "shufflenet_v2_x0_5": ("torchvision.models", lambda m: trunk(m.shufflenet_v2_x0_5(), 1)),
    "mnasnet0_5": ("torchvision.models", lambda m: m.mnasnet0_5().layers),
    "densenet121": ("torchvision.models", lambda m: m.densenet121().features),
    "convnext_tiny": ("torchvision.models", lambda m: m.convnext_tiny().features),
    "efficientnet_b0": ("torchvision.models", lambda m: m.efficientnet_b0().features),
    "swin_t": ("torchvision.models", lambda m: m.swin_t().features),
    "fcn_resnet50": ("torchvision.models.segmentation", lambda m: m.fcn_resnet50(weights_backbone=None)),
    "lraspp": ("torchvision.models.segmentation", lambda m: m.lraspp_mobilenet_v3_large(weights_backbone=None)),
    "timm resnet10t": ("timm", lambda m: features(m, "resnet10t")),
    "timm repvgg_a0": ("timm", lambda m: features(m, "repvgg_a0")),
    "timm tf_efficientnet_lite0": ("timm", lambda m: features(m, "tf_efficientnet_lite0")),
    "timm lcnet_035": ("timm", lambda m: features(m, "lcnet_035")),
    "timm dla34": ("timm", lambda m: features(m, "dla34")),
    "timm selecsls42": ("timm", lambda m: features(m, "selecsls42")),
    "timm ese_vovnet19b_dw": ("timm", lambda m: features(m, "ese_vovnet19b_dw")),
    "timm convnextv2_atto": ("timm", lambda m: features(m, "convnextv2_atto")),
    "smp Unet": ("segmentation_models_pytorch", lambda m: m.Unet("resnet18", encoder_weights=None)),
    "smp UnetPlusPlus": ("segmentation_models_pytorch", lambda m: m.UnetPlusPlus("resnet18", encoder_weights=None)),
    "smp Linknet": ("segmentation_models_pytorch", lambda m: m.Linknet("resnet18", encoder_weights=None)),
    "smp FPN": ("segmentation_models_pytorch", lambda m: m.FPN("resnet18", encoder_weights=None)),
    "smp PSPNet": ("segmentation_models_pytorch", lambda m: m.PSPNet("resnet18", encoder_weights=None)),
    "monai UNet": ("monai.networks.nets", lambda m: m.UNet(2, 3, 2, (8, 16, 32), (2, 2), norm="BATCH")),
    "monai BasicUNet": ("monai.networks.nets", lambda m: m.BasicUNet(2, 3, 2, (8, 8, 8, 8, 8, 8), norm="BATCH")),
    "monai AttentionUnet": ("monai.networks.nets", lambda m: m.AttentionUnet(2, 3, 2, (8, 16, 32), (2, 2))),
    "monai SegResNet": ("monai.networks.nets", lambda m: m.SegResNet(2, 8, 3, 2)),
}
NARROW = 32
MOST = 8192


def trunk(net, last=2):
    """Returns a network without its last layers, which pool the whole plane."""
    return torch.nn.Sequential(*list(net.children())[:-last])


def features(timm, name):
    return timm.create_model(name, features_only=True)


class Last(torch.nn.Module):
    """A network that returns the last of its results."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        made = self.net(x)
        made = list(made.values())[0] if isinstance(made, dict) else made
        return made[-1] if isinstance(made, (list, tuple)) else made


def seen_by(net, extent, place):
    """Returns the first and the last row of the result that sees a row of the input, and the number of rows."""
    x = torch.rand(1, 3, extent, NARROW)
    x[:, :, place] = torch.nan
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False):
        rows = net(x).isnan().any(dim=3).any(dim=1)[0]
    found = rows.nonzero().flatten().tolist()
    return (found[0] if found else None), (found[-1] if found else None), len(rows)


def measured(net, extent, align):
    """Returns before, after and scale of a network, or None if a row in the middle reaches both ends."""
    before, after = -extent, -extent
    rows = [seen_by(net, each, 0)[2] for each in (extent, extent + align)]
    scale = Fraction(rows[1] - rows[0], align)
    for place in range(extent // 2 // align * align, extent // 2 // align * align + align):
        first, last, rows = seen_by(net, extent, place)
        if first == 0 and last == rows - 1:
            return None
        if first is not None:
            before = max(before, int(last / scale) - place)
            after = max(after, place - int(first / scale))
    return before, after, scale


def row(name):
    """Returns a line of the table and whether both ways agree; None for a package that is not installed."""
    package, make = NETWORKS[name]
    try:
        module = importlib.import_module(package)
    except ImportError as error:
        return f"| {name} | - | - | not installed: {error} |", None
    torch.manual_seed(0)
    net = Last(make(module)).eval()
    begin = time.perf_counter()
    try:
        found = next(each for each in halo(net, [(1, 3, 128, NARROW)]).halos if each.axis == 2)
    except ModelError as error:
        return f"| {name} | - | - | {str(error)[:120]} |", None
    took = time.perf_counter() - begin
    if found.before is None:
        real = measured(net, 256, 32)
        reason = found.unbounded_by[0].partition(":")[0]
        return f"| {name} | unbounded: {reason} | {real or 'unbounded'} | {took:.0f} s |", real is None
    graph = found.before, found.after, found.scale
    extent = -(-2 * (found.before + found.after + found.alignment) // found.alignment) * found.alignment
    if extent > MOST:
        return f"| {name} | {graph} | needs {extent} rows | {took:.0f} s |", None
    real = measured(net, extent, found.alignment)
    shown = [", ".join(map(str, each)) if each else "unbounded" for each in (graph, real)]
    return f"| {name} | {shown[0]}; alignment {found.alignment} | {shown[1]} | {took:.0f} s |", real == graph


def main(names):
    print("| network | graph: before, after, scale | NaN: before, after, scale | time of halo |\n|---|---|---|---|")
    agree = []
    for name in names or NETWORKS:
        line, same = row(name)
        agree += [] if same is None else [same]
        print(line if same is not False else f"{line} DIFFERENT", flush=True)
    print(f"{sum(agree)} of {len(agree)} agree; {len(names or NETWORKS) - len(agree)} not compared")
    return 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
