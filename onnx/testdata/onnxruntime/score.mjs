// Runs models in ONNX Runtime: node score.mjs JOBS.json
// JOBS is a list of {"model": file, "rows": n, "x": file of float32 numbers}.
// Prints {"version", "results": [{"scores": [...], "columns": k, "label": [...] or null}]}.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { env } from "node:process";

const require = createRequire(env.CONCORD_ONNXRUNTIME + "/");
const ort = require("onnxruntime-node");

const results = [];
for (const job of JSON.parse(readFileSync(process.argv[2]))) {
  const session = await ort.InferenceSession.create(job.model);
  const bytes = readFileSync(job.x);
  const x = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const out = await session.run({ features: new ort.Tensor("float32", x, [job.rows, x.length / job.rows]) });
  results.push({
    scores: Array.from(out.scores.data),
    columns: out.scores.dims[1],
    label: out.label ? Array.from(out.label.data, Number) : null,
  });
}
console.log(JSON.stringify({ version: ort.env.versions.node, results }));
