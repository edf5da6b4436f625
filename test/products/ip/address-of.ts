import { type IpAddress, parseIpAddress } from '../../../plugins/core/access/ip-address';

export function addressOf(text: string): IpAddress {
  const address = parseIpAddress(text);
  if (!address) throw new Error(text);
  return address;
}
