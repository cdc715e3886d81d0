"use strict";
// A program in the address of the page: compressed, behind the #, so that no server sees it.

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

async function hashOf(code) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(code));
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return "#code=" + btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function codeIn(hash) {
  const letters = atob(hash.slice("#code=".length).replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (c) => c.charCodeAt(0));
  return new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes));
}
