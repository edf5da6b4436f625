// Preloaded (node --require) into the processes of an installation: public names are resolved by a name server of the test, and one public
// address leads to a server of the test. Everything else stays as it is. HOSTILE_NETWORK holds a JSON object: dns and web are ports on
// loopback, address is the public address that leads to web.
const net = require('node:net');
const dns = require('node:dns/promises');

const { HOSTILE_NETWORK: setting } = process.env;
if (setting !== undefined) {
  const network = JSON.parse(setting);
  const { Resolver } = dns;
  dns.Resolver = class extends Resolver {
    constructor(options) {
      super(options);
      this.setServers([`127.0.0.1:${network.dns}`]);
    }
  };
  const { connect } = net;
  net.connect = (...given) => {
    const [options, ...rest] = given;
    const isRedirected = typeof options === 'object' && options.host === network.address;
    return isRedirected ? connect({ ...options, host: '127.0.0.1', hostname: '127.0.0.1', port: network.web }, ...rest) : connect(...given);
  };
}
