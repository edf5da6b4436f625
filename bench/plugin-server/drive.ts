import { driveMsgpack } from './msgpack-driver';
import { driveProtobuf } from './protobuf-driver';

// The load process: `node drive.js protobuf|as-kong|msgpack SOCKET CONNECTIONS EVENTS WARM_UP`. It reports to its parent when it is warm
// and when it is done.

const [protocol, socketPath = '', connections, events, warmUp] = process.argv.slice(2);
const drive = protocol === 'msgpack' ? driveMsgpack : driveProtobuf;

void drive({
  socketPath,
  connections: Number(connections),
  events: Number(events),
  warmUp: Number(warmUp),
  asKongWrites: protocol === 'as-kong',
  onWarm: () => process.send?.('warm'),
}).then(() => {
  process.send?.('done');
  process.disconnect();
});
