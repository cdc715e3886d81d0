"""Meshes of one rank."""

import tapegrad as torch
from tapegrad import distributed as dist
from tapegrad.distributed.device_mesh import DeviceMesh, init_device_mesh
from tests.messages import raises


def test_a_mesh_of_one_has_a_group_for_each_dimension(world):
    mesh = init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp"))
    assert (mesh.ndim, mesh.shape, mesh.size(), mesh.size(1)) == (2, (1, 1), 1, 1)
    assert mesh.get_coordinate() == [0, 0] and mesh.get_rank() == 0
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
    with raises(RuntimeError, "mesh_shape and mesh_dim_names should have same length!"):
        init_device_mesh("cpu", (1,), mesh_dim_names=("a", "b"))
    mesh = DeviceMesh("cpu", torch.tensor([[0]]))
    with raises(KeyError, "'No `mesh_dim_names` found.'"):
        mesh["a"]
