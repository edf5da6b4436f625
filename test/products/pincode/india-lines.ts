/** Postal codes of India in the form of GeoNames: 10,000 made-up PINs, and two places of one that exists. */
export function indiaLines(): string {
  const line = (pin: string, name: string, [latitude, longitude]: readonly [number, number]) =>
    ['IN', pin, name, 'Delhi', '07', 'New Delhi', '094', 'New Delhi', '', latitude, longitude, 4].join('\t');
  const madeUp = Array.from({ length: 10_000 }, (_, index) => line(String(600_000 + index), `Place ${index}`, [13, 80]));
  return `${[...madeUp, line('110001', 'Connaught Place', [28.6431, 77.2197]), line('110001', 'Sansad Marg', [28.6369, 77.2183])].join('\n')}\n`;
}
