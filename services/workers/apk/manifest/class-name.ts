/** A class name of the manifest in full: `.Main` and `Main` are below the package. */
export function fullClassName(packageName: string, name: string): string {
  if (name.startsWith('.')) return packageName + name;
  return name.includes('.') ? name : `${packageName}.${name}`;
}
