import { MalformedError } from '../apk-error';
import { ByteReader } from '../bytes/byte-reader';
import { LIMITS } from '../limits';
import { type XmlAttribute, type XmlElement } from '../resources/binary-xml';
import { type Span, protoFields, spanOf, textAt } from './proto-fields';
import { readItem, textValue } from './proto-item';

/** Fields of the messages in frameworks/base tools/aapt2/Resources.proto. */
const NODE = { element: 1, text: 2 } as const;
const ELEMENT = { name: 3, attribute: 4, child: 5 } as const;
const ATTRIBUTE = { namespace: 1, name: 2, value: 3, resourceId: 5, item: 6 } as const;

/**
 * Reads the XML of app bundles (aapt.pb.XmlNode) into the same tree that binary XML gives, within the same limits.
 * @param what names the file in errors
 * @throws MalformedError
 */
export function parseProtoXml(bytes: Buffer, what: string): XmlElement {
  const reader = new ByteReader(bytes, what);
  const root = spanOf(reader, { start: 0, end: bytes.length }, NODE.element);
  if (!root) throw new MalformedError(`${what}: has no root element`);
  return new TreeReader(reader).element(root, 1);
}

class TreeReader {
  private elements = 0;
  private attributes = 0;

  constructor(private readonly reader: ByteReader) {}

  element(span: Span, depth: number): XmlElement {
    if (++this.elements > LIMITS.xmlElements || depth > LIMITS.xmlDepth) {
      throw new MalformedError(`${this.reader.what}: has too many or too deep elements`);
    }
    const attributes: XmlAttribute[] = [];
    const children: XmlElement[] = [];
    let [name, text] = ['', ''];
    for (const field of protoFields(this.reader, span)) {
      if (!field.isSpan) continue;
      if (field.number === ELEMENT.name) name = this.text(field);
      else if (field.number === ELEMENT.attribute) attributes.push(this.attribute(field));
      else if (field.number === ELEMENT.child) {
        const added = this.child(field, children, depth);
        if (text.length + added.length <= LIMITS.stringLength) text += added;
      }
    }
    return { name, attributes, children, text };
  }

  /** @returns the text if the child is a text */
  private child(node: Span, siblings: XmlElement[], depth: number): string {
    for (const field of protoFields(this.reader, node)) {
      if (field.isSpan && field.number === NODE.element) {
        siblings.push(this.element(field, depth + 1));
        return '';
      }
      if (field.isSpan && field.number === NODE.text) return this.text(field);
    }
    return '';
  }

  private attribute(span: Span): XmlAttribute {
    if (++this.attributes > LIMITS.xmlAttributes) throw new MalformedError(`${this.reader.what}: has too many attributes`);
    let [name, value, namespace, resourceId] = ['', '', '', 0];
    let item: Span | undefined;
    for (const field of protoFields(this.reader, span)) {
      if (field.number === ATTRIBUTE.resourceId && !field.isSpan) resourceId = field.value;
      if (!field.isSpan) continue;
      if (field.number === ATTRIBUTE.namespace) namespace = this.text(field);
      else if (field.number === ATTRIBUTE.name) name = this.text(field);
      else if (field.number === ATTRIBUTE.value) value = this.text(field);
      else if (field.number === ATTRIBUTE.item) item = field;
    }
    const compiled = item && readItem(this.reader, item);
    return { name, namespace: namespace === '' ? undefined : namespace, resourceId, value: compiled ?? textValue(value) };
  }

  private text(span: Span): string {
    return textAt(this.reader, span, LIMITS.stringLength);
  }
}
