import { type PluginModule } from '../core/access/kong-pdk';
import { type Instance, type Instances } from './instances';
import { type ServerLog } from './log';
import { pluginSchema } from './plugin-info';
import { type InstanceStatus, type PluginInfoMessage, type RpcCall, type RpcReturn } from './wire/rpc-messages';

export interface CommandContext {
  plugin: PluginModule;
  instances: Instances;
  log: ServerLog;
  /** When this server loaded the plugin, in seconds since 1970. */
  startedAt: number;
}

type Command = Exclude<RpcCall, { command: 'handle_event' | 'unknown' }>;

/** Answers every call but events. What is asked of an unknown plugin or instance gets an answer without content. */
export function answerCommand(call: Command, context: CommandContext): RpcReturn | Promise<RpcReturn> {
  const { plugin, instances, log } = context;
  const { sequence } = call;
  switch (call.command) {
    case 'start_instance': {
      const started = (instance: Instance): RpcReturn => {
        log.info({ instance: instance.id, plugin: call.name }, 'plugin instance started');
        return { sequence, instanceStatus: statusOf(instance) };
      };
      if (instances.areShared) return instances.startForAll(call.name, call.config).then(started);
      return started(instances.start(call.name, call.config));
    }
    case 'close_instance':
      if (instances.close(call.instanceId)) log.info({ instance: call.instanceId }, 'plugin instance closed');
      return { sequence };
    case 'get_instance_status': {
      const instance = instances.find(call.instanceId);
      return instance ? { sequence, instanceStatus: statusOf(instance) } : { sequence };
    }
    case 'get_plugin_names':
      return { sequence, pluginNames: [plugin.Name] };
    case 'get_plugin_info':
      return call.name === plugin.Name ? { sequence, pluginInfo: describe(plugin, context.startedAt) } : { sequence };
  }
}

function statusOf(instance: Instance): InstanceStatus {
  return { name: instance.name, instanceId: instance.id, startedAt: instance.startedAt };
}

function describe(plugin: PluginModule, startedAt: number): PluginInfoMessage {
  const { Name, Version, Priority } = plugin;
  const schema = JSON.stringify(pluginSchema(plugin));
  return { name: Name, version: Version, priority: Priority, phases: ['access'], schema, updatedAt: startedAt, loadedAt: startedAt };
}
