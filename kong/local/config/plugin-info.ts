import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError } from './config-error';

/** One field of a plugin's configuration, as Kong's schema describes it. */
interface PluginField {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'set';
  required: boolean;
  default?: unknown;
  oneOf?: readonly unknown[];
  /** Patterns, one of which must match, and the message if none does. */
  matchAny?: { readonly patterns: readonly RegExp[]; readonly problem: string };
  between?: readonly [number, number];
  lengthMin?: number;
  gt?: number;
  elements?: PluginElement;
}

type PluginElement = Omit<PluginField, 'name' | 'required' | 'default'>;

export interface PluginInfo {
  name: string;
  /** Kong runs the plugins of a request from the highest priority down. */
  priority: number;
  fields: readonly PluginField[];
}

const element = z.strictObject({
  type: z.enum(['string', 'integer', 'number', 'boolean']),
  one_of: z.array(z.unknown()).optional(),
  match_any: z.strictObject({ patterns: z.array(z.string()), err: z.string() }).optional(),
  between: z.tuple([z.number(), z.number()]).optional(),
  len_min: z.number().optional(),
  gt: z.number().optional(),
});

const field = z.strictObject({
  type: z.enum(['string', 'integer', 'number', 'boolean', 'array', 'set']),
  required: z.boolean().optional(),
  default: z.unknown().optional(),
  description: z.string().optional(),
  one_of: z.array(z.unknown()).optional(),
  between: z.tuple([z.number(), z.number()]).optional(),
  len_min: z.number().optional(),
  gt: z.number().optional(),
  elements: element.optional(),
});

const configRecord = z.strictObject({
  config: z.strictObject({ type: z.literal('record'), required: z.boolean().optional(), fields: z.array(z.record(z.string(), field)) }),
});

const pluginInfo = z.object({
  Protocol: z.literal('ProtoBuf:1', {
    error: 'must be "ProtoBuf:1": anything else makes Kong speak MessagePack, which lets requests through on failure',
  }),
  Plugins: z.array(
    z.object({
      Name: z.string().min(1),
      Priority: z.number().int(),
      // The local gateway can run the access phase only. A further phase would be skipped silently.
      Phases: z.array(z.literal('access', { error: 'the local gateway runs the access phase only' })).min(1),
      Schema: z.union([
        z.array(configRecord),
        z.strictObject({ name: z.string(), fields: z.array(configRecord) }).transform((schema) => schema.fields),
      ]),
    }),
  ),
});

/** Reads the output of Kong's query command. Throws {@link ConfigError}. */
export function loadPluginInfo(path: string): Map<string, PluginInfo> {
  const parsed = pluginInfo.safeParse(readJson(path));
  if (!parsed.success) {
    throw new ConfigError(
      path,
      parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`),
    );
  }
  const plugins = new Map<string, PluginInfo>();
  for (const plugin of parsed.data.Plugins) {
    const fields = plugin.Schema.flatMap((entry) => entry.config.fields).flatMap((named) =>
      Object.entries(named).map(([name, raw]) => toField(name, raw)),
    );
    plugins.set(plugin.Name, { name: plugin.Name, priority: plugin.Priority, fields });
  }
  return plugins;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ConfigError(path, [error instanceof Error ? error.message : 'not readable']);
  }
}

function toField(name: string, raw: z.infer<typeof field>): PluginField {
  return {
    ...toElement(raw),
    name,
    required: raw.required ?? false,
    ...(raw.default === undefined ? {} : { default: raw.default }),
    ...(raw.elements === undefined ? {} : { elements: toElement(raw.elements) }),
  };
}

/** Translates Lua patterns that differ from regular expressions only in their escapes. `%w` must be in brackets. */
const asRegExp = (pattern: string): RegExp => new RegExp(pattern.replaceAll('%w', 'A-Za-z0-9').replaceAll('%', '\\'));

function toElement(raw: z.infer<typeof element> | z.infer<typeof field>): PluginElement {
  return {
    type: raw.type,
    ...(raw.one_of === undefined ? {} : { oneOf: raw.one_of }),
    ...('match_any' in raw &&
      raw.match_any && { matchAny: { patterns: raw.match_any.patterns.map(asRegExp), problem: raw.match_any.err } }),
    ...(raw.between === undefined ? {} : { between: raw.between }),
    ...(raw.len_min === undefined ? {} : { lengthMin: raw.len_min }),
    ...(raw.gt === undefined ? {} : { gt: raw.gt }),
  };
}

/** A plugin configuration checked against its schema, with defaults filled in like Kong's. Absent optional fields stay absent. */
interface CheckedConfig {
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
