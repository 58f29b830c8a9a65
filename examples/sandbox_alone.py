"""Run untrusted code without any model: variables stay, errors are results, and a cell may call your functions.

python examples/sandbox_alone.py
"""

from sandbox import Policy, Sandbox


def main() -> None:
    policy = Policy(cell_timeout_s=10, memory_bytes=2**30)
    images = {"photo": "examples/portrait.jpg"}
    with Sandbox(policy) as sandbox, sandbox.open(images) as session:
        result = session.run("tag = photo.crop((80, 484, 168, 518))\nprint(tag.size)")
        print(result.status, result.text.strip())

        result = session.run("plt.imshow(tag.resize((880, 340))); plt.show()")
        print(f"{len(result.figures)} figure of {len(result.figures[0].data)} bytes")

        result = session.run("import socket; socket.create_connection(('192.0.2.1', 80))")
        assert result.error is not None
        print(result.status, result.error.name)

        result = session.run("print(host.add(2, 3))", functions={"add": lambda a, b: a + b})
        print(result.text.strip())


if __name__ == "__main__":
    main()
