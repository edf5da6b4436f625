import { formatTraceparent, parseTraceparent, unrecordedContext } from '../../../plugins/core/proof/trace-context';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

describe('a traceparent', () => {
  it('is read and written as the standard says', () => {
    const text = `00-${traceId}-${spanId}-01`;
    expect(parseTraceparent(text)).toEqual({ traceId, spanId, isSampled: true });
    expect(formatTraceparent({ traceId, spanId, isSampled: true })).toBe(text);
    expect(parseTraceparent(`00-${traceId}-${spanId}-02`)).toMatchObject({ isSampled: false });
  });

  it('of a later version is read as far as it is known', () => {
    expect(parseTraceparent(`01-${traceId}-${spanId}-01-more`)).toEqual({ traceId, spanId, isSampled: true });
  });

  it.each<[string, unknown]>([
    ['absent', undefined],
    ['repeated', [`00-${traceId}-${spanId}-01`, `00-${traceId}-${spanId}-01`]],
    ['in capitals', `00-${traceId.toUpperCase()}-${spanId}-01`],
    ['of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['with a parent of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['of the forbidden version', `ff-${traceId}-${spanId}-01`],
    ['with more than its version allows', `00-${traceId}-${spanId}-01-more`],
    ['cut off', `00-${traceId}-${spanId}`],
    ['endless', `01-${traceId}-${spanId}-01-${'x'.repeat(300)}`],
    ['with a line break', `00-${traceId}-${spanId}-01\nX: y`],
  ])('that is %s is none', (_, value) => {
    expect(parseTraceparent(value)).toBeUndefined();
  });

  it('that nobody records is still well-formed', () => {
    expect(parseTraceparent(formatTraceparent(unrecordedContext()))).toMatchObject({ isSampled: false });
  });
});
