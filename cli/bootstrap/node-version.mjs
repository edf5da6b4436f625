/**
 * @param {string} range `engines.node` of package.json, `>=20.19`
 * @param {string} version for example `20.20.2`
 * @returns {string | undefined} one sentence when this Node.js is too old
 */
export function nodeTooOld(range, version) {
  const [wantedMajor = 0, wantedMinor = 0] = range
    .replace(/^[^\d]*/, '')
    .split('.')
    .map(Number);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return undefined;
  return `Tollgate needs Node.js ${wantedMajor}.${wantedMinor} or newer, and this is ${version}; install a current one from https://nodejs.org`;
}
