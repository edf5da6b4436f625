/**
 * Packages weigh more than the code under test: jest evaluates each anew for every test file. Here node's own `require` loads those below
 * node_modules, once in the life of a worker. The repository's own modules stay new for each file; only their compiled text is kept.
 * Needs one-realm-environment.cjs. `jest.mock` of a package holds for the repository's modules, not for what other packages require.
 */
const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const { compileFunction } = require('node:vm');
const { default: Runtime } = require('jest-runtime');
// Before the first file: it keeps its matchers in a global, and globals come back to what they were before a file.
require('expect');

const BELOW_PACKAGES = /[/\\]node_modules[/\\]/;
const IS_PATH = /^(\.{0,2}$|\.{0,2}[/\\])/;

/** By folder: all files of one resolve a package alike. */
const requires = new Map();
/** By file: its text and what it compiled to. */
const compiled = new Map();

function requireFrom(file) {
  const folder = dirname(file);
  if (!requires.has(folder)) requires.set(folder, createRequire(file));
  return requires.get(folder);
}

module.exports = class SharedPackagesRuntime extends Runtime {
  constructor(...given) {
    super(...given);
    const { executor } = this;
    executor.compile = (text, filename) => {
      const known = compiled.get(filename);
      if (known?.text === text) return known.body;
      const body = compileFunction(text, executor.injectedModuleParameters, { filename });
      compiled.set(filename, { text, body });
      return body;
    };
  }

  requireModule(from, moduleName, options, isRequireActual) {
    if (this.isPackage(moduleName)) return requireFrom(from)(moduleName);
    return super.requireModule(from, moduleName, options, isRequireActual);
  }

  isPackage(moduleName) {
    if (moduleName === undefined || this._resolution.isCoreModule(moduleName)) return false;
    return !IS_PATH.test(moduleName) || BELOW_PACKAGES.test(moduleName);
  }
};
