"""Meshes of one rank."""

import tapegrad as torch
from tapegrad import distributed as dist
from tapegrad.distributed.device_mesh import DeviceMesh, init_device_mesh
from tests.messages import raises


def test_a_mesh_of_one_has_a_group_for_each_dimension(world):
    mesh = init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp"))
    assert (mesh.ndim, mesh.shape, mesh.size(), mesh.size(1)) == (2, (1, 1), 1, 1)
    assert mesh.get_coordinate() == (0, 0) and mesh.get_rank() == 0
    part = mesh["dp"]
    assert part.ndim == 1 and part.mesh_dim_names == ("dp",) and part.get_local_rank() == 0
    assert dist.get_world_size(part.get_group()) == 1
    assert mesh["dp", "tp"] == mesh != part
    assert DeviceMesh.from_group(world, "cpu").mesh.tolist() == [0]


def test_what_does_not_fit_is_refused(world):
    with raises(
        RuntimeError, "Mesh should not be bigger than default world size 1, but found 2 ranks!"
    ):
        init_device_mesh("cpu", (2,))
    with raises(
        RuntimeError,
        "mesh_shape and mesh_dim_names should have same length! "
        "Found len(mesh_dim_names): 2 and len(mesh_shape):1.",
    ):
        init_device_mesh("cpu", (1,), mesh_dim_names=("a", "b"))
    mesh = DeviceMesh("cpu", torch.tensor([[0]]))
    with raises(RuntimeError, "Cannot slice a DeviceMesh without mesh_dim_names!"):
        mesh["a"]
    with raises(KeyError, "'No `mesh_dim_names` found.'"):
        mesh.get_group("a")
    named = init_device_mesh("cpu", (1, 1), mesh_dim_names=("a", "b"))
    text = "\"Invalid mesh_dim_names ('x',) specified. Valid mesh_dim_names are ['a', 'b'].\""
    with raises(KeyError, text):
        named["x"]
    with raises(ValueError, "Invalid mesh [0, 1] for ProcessGroup with ranks [0]"):
        DeviceMesh.from_group(dist.group.WORLD, "cpu", mesh=[0, 1])


def test_a_mesh_prints_its_shape_and_knows_what_it_was_cut_out_of(world):
    mesh = init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp"))
    assert repr(mesh) == "DeviceMesh((dp=1, tp=1), 'cpu', stride=((), ()))"
    assert repr(mesh["tp"]) == "DeviceMesh((tp=1), 'cpu', stride=((),))"
    assert repr(DeviceMesh("cpu", [0])) == "DeviceMesh((1,), 'cpu', stride=((),))"
    assert mesh["tp"]._get_root_mesh() is mesh
    assert repr(mesh["dp", "tp"]._flatten("all")) == "DeviceMesh((all=1), 'cpu', stride=((),))"
    assert mesh["all"].mesh_dim_names == ("all",)
    with mesh as inside:
        assert inside is mesh
