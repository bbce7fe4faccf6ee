// The exports of a component.

import { log } from "../log.js";
import { Failure } from "../rejection.js";

/** A failure in the words of the interface. Any other error ends the component, with its words in the log. */
function told(call) {
  try {
    return call();
  } catch (error) {
    if (error instanceof Failure) {
      const attributes = Object.entries(error.attributes).map(([name, value]) => [name, String(value)]);
      throw { code: error.code, text: error.message, attributes };
    }
    log.error(`${error}\n${error?.stack ?? ""}`.trimEnd());
    throw error instanceof Error ? error : new Error(String(error));
  }
}

/** The interfaces that the world of a kind exports. */
export function component(stage, kind) {
  if (stage?.kind !== kind) {
    throw new Error(`src/plugin exports ${stage?.kind ? `a ${stage.kind}` : "no stage"} by default, plugin.toml says ${kind}`);
  }
  class Session {
    #session;

    static open(options, input, timestamp) {
      const session = new Session();
      session.#session = told(() => stage.open(options, input, timestamp));
      return session;
    }

    push(rows) {
      return told(() => this.#session.push(rows));
    }

    check(rows) {
      return told(() => this.#session.check(rows));
    }

    finish() {
      return told(() => this.#session.finish());
    }
  }
  const description = {
    describe: () => stage.describe(),
    plan: (options, input) => told(() => stage.plan(options, input)),
  };
  return { description, transform: { Session }, verdicts: { Session }, group: { Session } };
}
