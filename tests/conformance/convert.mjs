// The simple tests of the npm package, which are JavaScript objects, as one JSON array.
// Usage: node convert.mjs FOLDER_OF_THE_PACKAGE > cases.json
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const data = resolve(process.argv[2], "dist/esm/testdata/conformance.js");
const { tests } = await import(pathToFileURL(data));

function* cases(suite, file, section) {
  for (const test of suite.tests ?? []) yield { file, section, ...test.original };
  for (const inner of suite.suites ?? []) yield* cases(inner, file, inner.name);
}

// As text: JSON has one zero, and not everyone who reads it gets the last bit right.
const exact = (_, value) =>
  typeof value !== "number" ? value : Object.is(value, -0) ? "-0" : String(value);

const all = tests.suites.flatMap((file) => [...cases(file, file.name, "")]);
process.stdout.write(JSON.stringify(all, exact));
