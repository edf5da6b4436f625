/** Verhoeff's multiplication in the dihedral group D5. */
const MULTIPLY = ['0123456789', '1234067895', '2340178956', '3401289567', '4012395678', '5987604321', '6598710432', '7659821043', '8765932104', '9876543210']; // prettier-ignore
/** Verhoeff's permutation, by position from the right. */
const PERMUTE = ['0123456789', '1576283094', '5803796142', '8916043527', '9453126870', '4286573901', '2793806415', '7046913258'];

/** Twelve digits that do not start with 0 or 1. */
const SHAPE = /^[2-9]\d{11}$/;

/** True if Verhoeff's check over all digits gives 0. @param digits digits only */
export function passesVerhoeff(digits: string): boolean {
  let check = 0;
  for (let position = 0; position < digits.length; position++) {
    const digit = Number(digits.charAt(digits.length - 1 - position));
    const permuted = Number(PERMUTE[position % 8]?.charAt(digit));
    check = Number(MULTIPLY[check]?.charAt(permuted));
  }
  return check === 0;
}

export function isAadhaarNumber(text: string): boolean {
  return SHAPE.test(text) && passesVerhoeff(text);
}
