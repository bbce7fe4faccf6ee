// Builds the component of a plugin: `host build` calls this.
//
// node build.mjs NODE_MODULES PROJECT CRISOL KIND OUT
//
// NODE_MODULES has the tools, CRISOL is the folder with `wit/`, OUT is the component to write.

import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { spawnSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { flatten } from "./tool/flatten.mjs";

const SDK = dirname(fileURLToPath(import.meta.url));
const KINDS = ["decoder", "transformer", "validator", "ranker", "aggregator"];

/** What is wrong with the plugin or the call: told without a stack. */
class BuildError extends Error {}

function call() {
  const [tools, project, crisol, kind, out] = process.argv.slice(2);
  if (out === undefined) throw new BuildError("it is called as build.mjs NODE_MODULES PROJECT CRISOL KIND OUT");
  if (!KINDS.includes(kind)) throw new BuildError(`the kind is one of ${KINDS.join(", ")}, not ${kind}`);
  const require = createRequire(join(resolve(tools), "tool.js"));
  return { project: resolve(project), wit: join(resolve(crisol), "wit"), kind, out, require };
}

function entry(project) {
  const files = ["src/plugin.ts", "src/plugin.js"].map((file) => join(project, file));
  const found = files.find((file) => existsSync(file));
  if (!found) throw new BuildError(`${project} has neither src/plugin.js nor src/plugin.ts`);
  return found;
}

/** The types of a plugin hold, or what the compiler says of them is told and the build ends. */
function checkTypes(project, require) {
  if (!existsSync(join(project, "tsconfig.json"))) return;
  const compiler = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
  const { status, stdout } = spawnSync(process.execPath, [compiler, "--noEmit", "-p", project], { encoding: "utf8" });
  if (status !== 0) throw new BuildError(`the types do not fit\n${stdout}`);
}

/** The plugin, the SDK and what binds them to the interface of a kind, as one module. */
async function bundle(file, kind, require) {
  const contents = `
    import "crisol/host";
    import stage from ${JSON.stringify(file)};
    import { component } from "crisol/component";
    export const { description, transform, verdicts, group } = component(stage, ${JSON.stringify(kind)});
  `;
  const { outputFiles } = await require("esbuild").build({
    stdin: { contents, resolveDir: dirname(file), sourcefile: "component.js" },
    alias: {
      crisol: join(SDK, "src/index.js"),
      "crisol/host": join(SDK, "src/component/host.js"),
      "crisol/component": join(SDK, "src/component/component.js"),
    },
    external: ["crisol:*"],
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    write: false,
    charset: "utf8",
    logLevel: "warning",
  });
  return outputFiles[0].text;
}

/** The bundle in the runtime, after its modules were evaluated. */
async function component(jsSource, wit, kind, require) {
  const { componentize } = require("componentize-qjs");
  try {
    return (await componentize({ witPath: wit, world: kind, jsSource, sync: true })).component;
  } catch (error) {
    throw new BuildError(error.message.replace(/^.*module evaluation: /s, "the plugin does not load: "));
  }
}

async function build() {
  const { project, wit, kind, out, require } = call();
  const file = entry(project);
  if (file.endsWith(".ts")) checkTypes(project, require);
  const jsSource = await bundle(file, kind, require);
  await writeFile(out, flatten(await component(jsSource, wit, kind, require)));
}

build().catch((error) => {
  // esbuild has told its own errors.
  if (!error.errors) console.error(error instanceof BuildError ? `error: ${error.message}` : error);
  process.exitCode = 1;
});
