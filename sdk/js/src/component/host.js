// Binds the SDK to the host: evaluated before the plugin's own modules.

import { log as write } from "crisol:stage/log@0.1.0";

import { connect, log } from "../log.js";
import { install } from "./polyfill.js";

connect(write);
install(log);
