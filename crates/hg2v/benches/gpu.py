"""What an NVIDIA GPU computes and how fast, beside PyTorch on the same GPU, in one run.

    python gpu.py BENCH HG2V DATA_DIR OUT_DIR [PART ...]

BENCH is the compiled bench `cuda`, HG2V the command, both built with the feature `cuda`;
parts are check, steps, fit, embed, precision and batches, all where none is named. What is found
goes to OUT_DIR/MACHINE.json, part by part, and is printed.
"""

import json
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

BENCH, HG2V, DATA, OUT = (pathlib.Path(word).resolve() for word in sys.argv[1:5])


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def hg2v(*words):
    return json.loads(run(HG2V, *words, "--json", "-q"))


def machine():
    query = "--query-gpu=name,driver_version,memory.total"
    name, driver, memory = run("nvidia-smi", query, "--format=csv,noheader").splitlines()[0].split(", ")
    return {"gpu": name, "driver": driver, "memory": memory, "processor": platform.processor() or platform.machine()}


def check():
    """Results against the processor in f64, the same bits twice, failures."""
    return run(BENCH, "check", "full").splitlines()


def steps():
    """A training step: ours with putting the batch together, PyTorch's without."""
    import torch
    import torch_geometric
    import twin_cuda

    table = [line.split() for line in run(BENCH, "time").splitlines()]
    names = ("products", "nodes", "dim", "median_ms", "best_ms", "asking_ms", "tflops", "mib")
    rows = [dict(zip(names, row)) for row in table if row[0] in ("F32", "Tf32", "Bf16")]
    ours = [{key: value if key == "products" else float(value) for key, value in row.items()} for row in rows]
    theirs = twin_cuda.steps()
    for row in theirs:
        mine = next(one for one in ours if one["products"] == "F32" and one["nodes"] == row["nodes"])
        best = min(row["eager"], row["geometric"])
        row["times_eager"] = best / mine["median_ms"]
        row["times_replayed"] = row["replayed"] / mine["median_ms"]
    return {"pytorch": torch.__version__, "geometric": torch_geometric.__version__, "ours": ours, "theirs": theirs}


def fit():
    """The whole fit of REDDIT-MULTI-5K, coarsening included, and an epoch of it."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--dim", 256, "--hops", 4, "--levels", 5, "--batch", 8, "--epochs", 10]
        words = ["fit", DATA / "REDDIT-MULTI-5K.zip", "--out", f"{folder}/model", "--no-cache", "--device", "cuda"]
        started = time.perf_counter()
        report = hg2v(*words, *options)
        whole = time.perf_counter() - started
        training = report["timings"]["training"]
        return {"whole": whole, "seconds": {"training": training, "whole": report["seconds"]}, "epoch": training / 10}


def embed():
    """Graphs a second: with pyramids made on the way, and with those of the last time."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        mnist = f"{folder}/MNIST.parquet"
        images = [DATA / f"MNIST-t10k-{kind}-ubyte.gz" for kind in ("images-idx3", "labels-idx1")]
        run(HG2V, "images", *images, "--threshold", 0, "--out", mnist, "-q")
        # As they are, 188 small graphs would time the start.
        mutag = pathlib.Path(folder) / "MUTAG.jsonl"
        run(HG2V, "convert", DATA / "MUTAG.zip", mutag, "-q")
        mutag.write_text(200 * mutag.read_text())
        for name, data in (("MUTAG, 200 times", mutag), ("REDDIT-BINARY", DATA / "REDDIT-BINARY.zip"), ("MNIST", mnist)):
            model = f"{folder}/{name}"
            run(HG2V, "fit", data, "--out", model, "--epochs", 1, "--device", "cuda", "--cache-dir", f"{folder}/cache", "-q")
            row = {}
            for device in ("cuda", "cpu"):
                for way, options in (("coarsening", ["--no-cache"]), ("cached", ["--cache-dir", f"{folder}/cache"])):
                    rates = []
                    for _ in range(3):
                        words = ["embed", model, data, "--out", f"{folder}/e.npy", "--force", "--device", device, *options]
                        report = hg2v(*words)
                        rates.append(report["graphs"] / report["seconds"])
                    row[f"{device} {way}"] = max(rates)
            found[name] = row
    return found


def precision():
    """What fewer bits do to accuracies: 10 splits, the default network."""
    found = {}
    for name in ("MUTAG", "ENZYMES", "PROTEINS"):
        found[name] = {bits: accuracy(name, "--precision", bits) for bits in ("f32", "tf32", "bf16")}
    return found


def batches():
    """What large batches do to accuracies, by the first learning rate."""
    found = {}
    for name in ("ENZYMES", "PROTEINS"):
        for batch in (8, 64, 256):
            for rate in sorted({1e-4, 1e-4 * (batch / 8) ** 0.5, 1e-4 * batch / 8}):
                found[f"{name}, batch {batch}, rate {rate:.2g}"] = accuracy(name, "--batch", batch, "--lr", rate)
    return found


def accuracy(name, *options):
    report = hg2v("evaluate", DATA / f"{name}.zip", "--splits", 10, "--no-controls", "--device", "cuda", *options)
    trained = report["methods"][0]["result"]
    return {"test": trained["test"], "validation": trained["validation"]}


def main():
    path = OUT / (machine()["gpu"].replace(" ", "-") + ".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    record = json.loads(path.read_text()) if path.exists() else {}
    record["machine"] = machine()
    for part in sys.argv[5:] or ["check", "steps", "fit", "embed", "precision", "batches"]:
        started = time.perf_counter()
        record[part] = globals()[part]()
        print(f"{part} ({time.perf_counter() - started:.0f} s)", json.dumps(record[part], indent=1), flush=True)
        path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
