/** The part of RFC 1035 that a name server for PTR, A and AAAA needs. */
export const RECORD_TYPES = { A: 1, PTR: 12, AAAA: 28 } as const;

const HEADER_BYTES = 12;
const CLASS_IN = 1;
/** Response, authoritative, recursion available; recursion desired is copied from the query. */
const ANSWER_FLAGS = 0x8480;
const NAME_ERROR = 3;
const TTL_SECONDS = 60;

export interface DnsQuestion {
  readonly id: number;
  readonly recursionDesired: boolean;
  /** Lower case, without the final dot. */
  readonly name: string;
  readonly type: number;
  /** The question section as received. */
  readonly section: Buffer;
}

/** Undefined when the message is not a query with one question. */
export function readDnsQuestion(message: Buffer): DnsQuestion | undefined {
  if (message.length < HEADER_BYTES + 5 || message.readUInt16BE(4) !== 1) return undefined;
  const flags = message.readUInt16BE(2);
  if ((flags & 0x8000) !== 0) return undefined;
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] ?? 0; length !== 0; length = message[at] ?? 0) {
    if (length > 63 || at + 1 + length >= message.length) return undefined;
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const end = at + 5;
  if (end > message.length) return undefined;
  return {
    id: message.readUInt16BE(0),
    recursionDesired: (flags & 0x0100) !== 0,
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(at + 1),
    section: message.subarray(HEADER_BYTES, end),
  };
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

export type DnsData = { readonly name: string } | { readonly bytes: Buffer };

/** A response to the question. Without data, it says whether the name exists at all. */
export function writeDnsAnswer(question: DnsQuestion, { exists, answers }: { exists: boolean; answers: readonly DnsData[] }): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(question.id, 0);
  header.writeUInt16BE(ANSWER_FLAGS | (question.recursionDesired ? 0x0100 : 0) | (exists ? 0 : NAME_ERROR), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  const records = answers.map((answer) => {
    const data = 'name' in answer ? encodeName(answer.name) : answer.bytes;
    const fixed = Buffer.alloc(12);
    // A pointer to the name in the question.
    fixed.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
    fixed.writeUInt16BE(question.type, 2);
    fixed.writeUInt16BE(CLASS_IN, 4);
    fixed.writeUInt32BE(TTL_SECONDS, 6);
    fixed.writeUInt16BE(data.length, 10);
    return Buffer.concat([fixed, data]);
  });
  return Buffer.concat([header, question.section, ...records]);
}
