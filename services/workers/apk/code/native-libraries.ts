import { type AppPart } from '../container/app-part';
import { LIMITS } from '../limits';
import { type Notes } from '../notes';
import { type ApkReport } from '../report';

/** Paths at which Android looks for libraries. Android loads no library with a longer name. */
export const LIBRARY = /^lib\/([\w.-]{1,40})\/([^/]{1,200}\.so)$/;

const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Lists the native libraries of all parts and the processors that they are for. */
export function listNativeLibraries(parts: readonly AppPart[], notes: Notes): Pick<ApkReport, 'native_abis' | 'native_libraries'> {
  const files = parts.flatMap((part) => [...part.files]);
  const libraries = files.flatMap(([place, { size }]) => {
    const [, abi, name] = LIBRARY.exec(place) ?? [];
    return abi === undefined || name === undefined ? [] : [{ name, abi, size }];
  });
  libraries.sort((a, b) => inOrder(a.name, b.name) || inOrder(a.abi, b.abi));
  if (libraries.length > LIMITS.listed) notes.add(`only ${LIMITS.listed} of ${libraries.length} native libraries are listed`);
  const abis = [...new Set(libraries.map(({ abi }) => abi))].sort();
  return { native_abis: abis.slice(0, LIMITS.listed), native_libraries: libraries.slice(0, LIMITS.listed) };
}
