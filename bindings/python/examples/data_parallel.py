"""Training on several processes: DistributedDataParallel over the layer.

    python data_parallel.py GRAPHS MODEL [WORKERS] [EPOCHS]

starts WORKERS processes here (gloo; nccl where there are GPUs is for torchrun), each with its share
of every batch; ``python data_parallel.py --ray …`` starts them through Ray Train. HG2V tells a
neighbourhood from those of the same worker, so that gradients are means over smaller batches.
"""

from __future__ import annotations

import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import hg2v
import hg2v.torch


def train(config: dict) -> None:
    """What each process does, within a process group."""
    torch.set_num_threads(1)
    rank, world = dist.get_rank(), dist.get_world_size()
    graphs = hg2v.graphs(config["graphs"])
    # Features and the first parameters are those of a model that was fitted for no epoch. It has
    # nothing beside or after its network, which is all that is trained here.
    start = hg2v.HG2V(**config["params"], epochs=0).fit(graphs)
    layer = hg2v.torch.HG2V.of(start, n_jobs=1)
    prepared = layer.prepare(graphs)
    model = DistributedDataParallel(layer)
    optimiser = torch.optim.Adam(model.parameters(), lr=config["lr"])
    order = torch.Generator().manual_seed(0)
    for epoch in range(config["epochs"]):
        seen, total = 0, 0.0
        # Everybody draws the same order and takes every world-th graph of a batch.
        for chosen in torch.randperm(len(prepared), generator=order).split(config["batch"]):
            own = chosen[rank::world].tolist()
            if len(own) == 0 or len(chosen) < world:
                continue
            optimiser.zero_grad()
            loss = model(prepared.take(own), loss=True)
            loss.backward()
            optimiser.step()
            seen, total = seen + 1, total + loss.item()
        mean = torch.tensor(total / max(seen, 1))
        dist.all_reduce(mean)
        if rank == 0:
            print(f"epoch {epoch + 1}: loss {mean.item() / world:.4f}", flush=True)
    # The replicas must not have drifted apart.
    flat = torch.cat([p.detach().reshape(-1) for p in layer.parameters()])
    least, most = flat.clone(), flat.clone()
    dist.all_reduce(least, dist.ReduceOp.MIN)
    dist.all_reduce(most, dist.ReduceOp.MAX)
    assert torch.equal(least, most), "the processes disagree"
    if rank == 0:
        layer.to_estimator().save(config["model"])


def spawned(rank: int, world: int, port: int, config: dict) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    train(config)
    # Nobody leaves the group while another still works in it.
    dist.barrier()
    dist.destroy_process_group()


def main(args: list[str]) -> None:
    by_ray = args[:1] == ["--ray"]
    graphs, model, *rest = args[by_ray:]
    workers, epochs = (int(rest[0]) if rest else 2), (int(rest[1]) if len(rest) > 1 else 5)
    config = dict(
        graphs=os.path.abspath(graphs), model=os.path.abspath(model), epochs=epochs, batch=8, lr=1e-3,
        params=dict(dim=8, hops=2, levels=2, random_state=3, preset="network"),
    )  # fmt: skip
    if by_ray:
        from ray.train import ScalingConfig
        from ray.train.torch import TorchTrainer

        TorchTrainer(
            train, train_loop_config=config, scaling_config=ScalingConfig(num_workers=workers)
        ).fit()
    else:
        import socket

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        torch.multiprocessing.start_processes(
            spawned, args=(workers, port, config), nprocs=workers, start_method="spawn"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
