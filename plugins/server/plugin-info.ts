import { type PluginModule } from '../core/access/kong-pdk';

type PluginFacts = Omit<PluginModule, 'Plugin'>;

/** The output of Kong's query command for a plugin server. */
export interface PluginServerInfo {
  /** A bare array of plugins, without this, would mean MessagePack. */
  Protocol: 'ProtoBuf:1';
  Plugins: [PluginDescription];
}

interface PluginDescription {
  Name: string;
  Version: string;
  Priority: number;
  Phases: ['access'];
  Schema: PluginSchema;
}

/** Kong's form of a plugin schema: the configuration is one record among the plugin's fields. */
export interface PluginSchema {
  name: string;
  fields: { config: { type: 'record'; fields: readonly Record<string, unknown>[] } }[];
}

export function pluginSchema(plugin: PluginFacts): PluginSchema {
  return { name: plugin.Name, fields: [{ config: { type: 'record', fields: plugin.Schema } }] };
}

/** The JSON document for `pluginserver_<name>_query_cmd`. One plugin: Kong 3.9 registers only the first of each server. */
export function pluginInfo(plugin: PluginFacts): PluginServerInfo {
  const { Name, Version, Priority } = plugin;
  return { Protocol: 'ProtoBuf:1', Plugins: [{ Name, Version, Priority, Phases: ['access'], Schema: pluginSchema(plugin) }] };
}

/** The same as text for kong/access-layer.json, which the query command prints. */
export function formatPluginInfo(plugin: PluginFacts): string {
  return `${JSON.stringify(pluginInfo(plugin), null, 2)}\n`;
}
