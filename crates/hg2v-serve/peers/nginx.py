"""A server behind nginx with TLS, as docs/serving.md sets it up.

    python nginx.py HG2V     fails where what comes through nginx is not what the server says

HG2V is the command. The configuration is the page's own; a certificate, ports and files of this run
stand in it for those of a real host. Asked by curl, as a program and as a browser would.
"""

import json
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs/serving.md"
NAME = "graphs.example.org"
TOKEN = "a-token+with%20signs"

# What stands around a server in nginx's own file; everything it writes goes to this run's folder.
AROUND = """
daemon off;
pid nginx.pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
{server}
}}
"""


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def configuration(folder, port, address):
    """The page's, with the places of this run, each of which must be there once."""
    [server] = re.findall(r"```nginx\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for there, here in [
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        (f"/etc/letsencrypt/live/{NAME}/fullchain.pem", f"{folder}/certificate.pem"),
        (f"/etc/letsencrypt/live/{NAME}/privkey.pem", f"{folder}/key.pem"),
        ("http://127.0.0.1:8080;", f"http://{address};"),
    ]:
        assert server.count(there) == 1, f"{PAGE.name} no longer says {there!r} once"
        server = server.replace(there, here)
    return AROUND.format(server=server)


class Front:
    """nginx, as whoever knows the certificate asks it."""

    def __init__(self, folder, port):
        self.port = port
        self.curl = ["curl", "--silent", "--show-error", "--max-time", "60"]
        self.curl += ["--cacert", f"{folder}/certificate.pem"]
        self.curl += ["--connect-to", f"{NAME}:443:127.0.0.1:{port}"]

    def command(self, path, *options):
        return [*self.curl, *options, f"https://{NAME}{path}"]

    def ask(self, path, *options, given=None):
        """Status, head and body of an answer."""
        command = self.command(path, "--include", *options)
        said = subprocess.run(command, input=given, check=True, capture_output=True, text=True)
        # Before the last one are those that only say to go on.
        head, body = re.match(r"(?:HTTP/\S+ 1\d\d.*?\n\n)*(.*?)\n\n(.*)", said.stdout, re.DOTALL).groups()
        return int(head.split()[1]), head.lower(), body


def graphs_of(folder):
    return (folder / "graphs.jsonl").read_text().splitlines()


def same(found, expected, what):
    assert found == expected, f"{what}: {found!r}, not {expected!r}"


def ask_as_a_program(front, folder):
    bearer = ["--header", f"Authorization: Bearer {TOKEN}"]
    graphs = graphs_of(folder)
    vectors = (folder / "vectors.csv").read_text().splitlines()[1:]
    ids = [json.loads(graph)["id"] for graph in graphs]
    same(front.ask("/readyz")[0], 200, "ready")
    status, head, _ = front.ask("/embed", "--data", graphs[0])
    same((status, "www-authenticate: bearer" in head), (401, True), "without a token")
    for graph, row in zip(graphs[:3], vectors):
        status, _, body = front.ask("/embed", *bearer, "--data", graph)
        same(status, 200, "embed")
        same(json.loads(body)["embedding"], [float(x) for x in row.split(",")[2:]], "a vector")
    status, _, body = front.ask("/search?top=3", *bearer, "--data", json.dumps({"id": ids[5]}))
    expected = subprocess.run(
        [folder / "hg2v", "search", "vectors.csv", str(ids[5]), "--top", "3", "--json"],
        cwd=folder, check=True, capture_output=True, text=True,
    )
    [query] = json.loads(expected.stdout)["queries"]
    same((status, json.loads(body)["neighbors"]), (200, query["neighbors"]), "search")


def ask_as_a_stream(front, folder):
    """A line is answered before the next is sent: nothing holds the stream back on its way."""
    trust = ssl.create_default_context(cafile=folder / "certificate.pem")
    plain = socket.create_connection(("127.0.0.1", front.port), timeout=60)
    with trust.wrap_socket(plain, server_hostname=NAME) as stream:
        head = f"POST /embed HTTP/1.1\r\nHost: {NAME}\r\nAuthorization: Bearer {TOKEN}\r\n"
        head += "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
        stream.sendall(head.encode())
        answers = stream.makefile("rb")
        for graph in graphs_of(folder):
            line = (graph + "\n").encode()
            stream.sendall(b"%x\r\n%b\r\n" % (len(line), line))
            answer = b""
            # Beside lines of the head and of chunks.
            while not answer.startswith(b"{"):
                answer = answers.readline()
                assert answer, "the stream ends early"
            same(json.loads(answer)["id"], json.loads(graph)["id"], "a line of a stream")
        stream.sendall(b"0\r\n\r\n")
        same(answers.readline() + answers.readline(), b"\r\n0\r\n", "the end of a stream")


def ask_as_a_browser(front, folder):
    browser = ["--header", "Accept: text/html,*/*;q=0.8", "--cookie-jar", f"{folder}/jar"]
    browser += ["--cookie", f"{folder}/jar"]
    status, _, body = front.ask("/", *browser)
    same((status, 'action="login"' in body), (401, True), "the page without a session")
    status, head, _ = front.ask("/login", *browser, "--data-urlencode", "token=wrong")
    same((status, "set-cookie" in head), (401, False), "a login that is none")
    status, head, _ = front.ask("/login", *browser, "--data-urlencode", f"token={TOKEN}")
    same((status, "location: ./" in head), (303, True), "the login")
    for word in ["; httponly", "; samesite=strict", "; secure"]:
        assert word in head, f"the cookie lacks {word!r}: {head}"
    status, _, body = front.ask("/", *browser)
    same((status, "Put a graph on the map" in body), (200, True), "the page")


def main():
    [hg2v] = sys.argv[1:]
    missing = [program for program in ["nginx", "openssl", "curl"] if shutil.which(program) is None]
    if missing:
        print(f"skipped: the server behind nginx needs {', '.join(missing)}")
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "hg2v").symlink_to(Path(hg2v).resolve())
        for line in [
            "generate dla --graphs 24 --nodes 20 --out graphs.jsonl",
            "fit graphs.jsonl --out model --dim 8 --levels 2 --epochs 1",
            "embed model graphs.jsonl --out vectors.csv",
        ]:
            subprocess.run([folder / "hg2v", *line.split(), "--quiet"], cwd=folder, check=True)
        request = "req -x509 -newkey rsa:2048 -nodes -days 2 -keyout key.pem -out certificate.pem"
        names = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
        quiet = {"cwd": folder, "check": True, "capture_output": True}
        subprocess.run(["openssl", *request.split(), *names], **quiet)
        serve = "serve model --index vectors.csv --data graphs.jsonl --json --quiet"
        server = subprocess.Popen(
            [folder / "hg2v", *serve.split(), "--listen", "127.0.0.1:0", "--token", TOKEN],
            cwd=folder, stdout=subprocess.PIPE, text=True,
        )
        running = [server]
        try:
            address = json.loads(server.stdout.readline())["address"].removeprefix("http://")
            port = free_port()
            (folder / "nginx.conf").write_text(configuration(folder, port, address))
            running.append(subprocess.Popen(["nginx", "-p", folder, "-c", "nginx.conf"]))
            front = Front(folder, port)
            # Until it listens.
            waiting = front.command("/readyz", "--retry", "60", "--retry-delay", "1", "--retry-connrefused")
            subprocess.run(waiting, check=True, capture_output=True)
            for ask in [ask_as_a_program, ask_as_a_stream, ask_as_a_browser]:
                ask(front, folder)
        finally:
            for process in reversed(running):
                process.terminate()
                process.wait()
        same(server.returncode, 0, "the end of the server")
    print("behind nginx, with TLS: vectors, neighbours, streams and the page are as they should be")


if __name__ == "__main__":
    main()
