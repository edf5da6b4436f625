/**
 * Runs test files in the realm of the worker itself, one after the other, so that objects and errors of packages that
 * shared-packages-runtime.cjs loads once are of the same realm as those of the tests. What a file changes of the worker, it changes for
 * itself: globals, environment variables, listeners, the working directory and process.exit come back after it.
 */
const { AsyncLocalStorage } = require('node:async_hooks');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** Handed the global object itself, fake timers would take those of node:timers too, and time that a test holds would hold node's own. */
const ASIDE = new Proxy(globalThis, {});
/** They live as long as the worker. */
const EMITTERS = [process, process.stdout, process.stderr];

/** expect() takes a stack each time that it is called. jest's 100 frames cost a tenth of a unit test, and a failure shows few. */
const FRAMES = 25;

/** Those in use. Each promise visits them all: jest's runner makes one for a file and leaves it. */
const storages = new Set();
for (const name of ['run', 'enterWith']) {
  const { [name]: use } = AsyncLocalStorage.prototype;
  AsyncLocalStorage.prototype[name] = function (...given) {
    storages.add(this);
    return use.apply(this, given);
  };
}

function endStorages() {
  for (const storage of storages) storage.disable();
  storages.clear();
}

/** @returns a function that gives `target` the own properties it has now: what came is removed, what was changed is set again */
function rememberProperties(target) {
  const before = Object.getOwnPropertyDescriptors(target);
  return () => {
    for (const key of Reflect.ownKeys(target)) {
      if (!Object.hasOwn(before, key)) Reflect.deleteProperty(target, key);
    }
    for (const key of Reflect.ownKeys(before)) {
      const { [key]: was } = before;
      const is = Object.getOwnPropertyDescriptor(target, key);
      const isSame = is !== undefined && is.value === was.value && is.get === was.get && is.set === was.set;
      if (!isSame) Object.defineProperty(target, key, was);
    }
  };
}

/** @returns a function that takes from `emitter` every listener it has got since */
function rememberListeners(emitter) {
  const before = new Map(emitter.eventNames().map((event) => [event, new Set(emitter.rawListeners(event))]));
  return () => {
    for (const event of emitter.eventNames()) {
      for (const listener of emitter.rawListeners(event)) {
        if (before.get(event)?.has(listener) !== true) emitter.removeListener(event, listener);
      }
    }
  };
}

/** @returns a function that sets the variables of the environment as they are now */
function rememberVariables() {
  const before = { ...process.env };
  return () => {
    for (const name of Object.keys(process.env)) {
      if (!(name in before)) delete process.env[name];
    }
    Object.assign(process.env, before);
  };
}

function rememberWorker() {
  const folder = process.cwd();
  const { exit, exitCode, title } = process;
  const restore = [rememberProperties(globalThis), rememberVariables(), ...EMITTERS.map(rememberListeners)];
  return () => {
    for (const each of restore) each();
    process.exit = exit;
    process.exitCode = exitCode;
    process.title = title;
    if (process.cwd() !== folder) process.chdir(folder);
  };
}

module.exports = class OneRealmEnvironment {
  constructor({ projectConfig }) {
    this.restoreWorker = rememberWorker();
    this.global = globalThis;
    Object.assign(globalThis, { global: globalThis }, projectConfig.globals);
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimers = null;
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: ASIDE });
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** There is no other context: shared-packages-runtime.cjs compiles in this one. jest asks only whether there still is one. */
  getVmContext() {
    return this.global;
  }

  async setup() {
    // Not before: jest sets its own until then.
    Error.stackTraceLimit = FRAMES;
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    endStorages();
    this.restoreWorker();
    this.global = null;
  }
};
