// Perfetto's trace processor, as its page brings it to a browser, behind a pipe.
//
//     node engine.mjs FOLDER
//
// FOLDER holds `engine_bundle.js` and `trace_processor.wasm`. The bundle is a web worker that is
// given a port; requests and answers are bytes of a TraceProcessorRpcStream. Here the port is
// standard input and output. The worker sees no network, and no files but those of FOLDER.

import { readFileSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import vm from "node:vm";

const folder = process.argv[2];

// Enough of it to read the program: the bundle asks for it once and waits.
class XMLHttpRequest {
  open(method, url) {
    this.url = url;
  }
  send() {
    const bytes = readFileSync(join(folder, basename(this.url)));
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  }
}

function writeAll(bytes) {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(1, bytes, done);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error; // whoever reads is slower than we are
    }
  }
}

const worker = {
  XMLHttpRequest, TextDecoder, TextEncoder, URL, performance, crypto, setTimeout, clearTimeout,
  console: { log() {}, warn: console.error, error: console.error },
  WorkerGlobalScope: class {},
  location: { href: "http://localhost/engine_bundle.js" },
};
worker.self = worker;
vm.createContext(worker);
const bundle = readFileSync(join(folder, "engine_bundle.js"), "utf-8");
vm.runInContext(bundle, worker, { displayErrors: false });

const port = { postMessage: writeAll };
worker.onmessage({ data: port });
const Bytes = vm.runInContext("Uint8Array", worker); // its own class, not ours
process.stdin.on("data", (chunk) => port.onmessage({ data: new Bytes(chunk) }));
