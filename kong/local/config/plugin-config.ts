import { type PluginElement, type PluginInfo } from './plugin-info';

/** A plugin configuration checked against its schema, with defaults filled in like Kong's. Absent optional fields stay absent. */
export interface CheckedConfig {
  config: Record<string, unknown>;
  problems: string[];
}

/** `path` is the place in kong.yml for problems. */
export function checkPluginConfig(plugin: PluginInfo, config: Record<string, unknown>, path: string): CheckedConfig {
  const problems: string[] = [];
  const checked: Record<string, unknown> = {};
  const known = new Set(plugin.fields.map((field) => field.name));
  for (const name of Object.keys(config)) {
    if (!known.has(name)) problems.push(`${path}.config.${name}: the schema of ${plugin.name} has no such field`);
  }
  for (const field of plugin.fields) {
    const value = config[field.name] ?? field.default;
    if (value === undefined) {
      if (field.required) problems.push(`${path}.config.${field.name}: required`);
      continue;
    }
    problems.push(...checkValue(field, value).map((problem) => `${path}.config.${field.name}${problem}`));
    checked[field.name] = value;
  }
  return { config: checked, problems };
}

function checkValue(field: PluginElement, value: unknown): string[] {
  if (field.type === 'array' || field.type === 'set') return checkList(field, value);
  if (!hasType(field.type, value)) return [`: expected ${field.type}`];
  if (field.oneOf !== undefined && !field.oneOf.includes(value)) return [`: must be one of ${field.oneOf.join(', ')}`];
  if (field.matchAny?.patterns.every((pattern) => !pattern.test(String(value)))) return [`: ${field.matchAny.problem}`];
  if (typeof value === 'number' && field.between !== undefined && (value < field.between[0] || value > field.between[1])) {
    return [`: must be between ${field.between.join(' and ')}`];
  }
  if (typeof value === 'number' && field.gt !== undefined && value <= field.gt) return [`: must be greater than ${String(field.gt)}`];
  if (typeof value === 'string' && value.length < (field.lengthMin ?? 1)) return [': too short'];
  return [];
}

function checkList(field: PluginElement, value: unknown): string[] {
  if (!Array.isArray(value)) return [`: expected a list`];
  const items: unknown[] = value;
  const problems: string[] = [];
  if (field.lengthMin !== undefined && items.length < field.lengthMin) problems.push(`: needs at least ${String(field.lengthMin)}`);
  if (field.type === 'set' && new Set(items).size !== items.length) problems.push(': an entry is repeated');
  const { elements } = field;
  if (elements === undefined) return problems;
  return problems.concat(items.flatMap((item, index) => checkValue(elements, item).map((problem) => `[${String(index)}]${problem}`)));
}

function hasType(type: PluginElement['type'], value: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    case 'array':
    case 'set':
      return Array.isArray(value);
  }
}
