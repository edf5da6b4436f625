// One import for each country: the whole library is 312 files, and every process that reads a catalogue would load them.
import { validate as AT } from 'stdnum/lib/cjs/at/uid';
import { validate as BE } from 'stdnum/lib/cjs/be/vat';
import { validate as BG } from 'stdnum/lib/cjs/bg/vat';
import { validate as CY } from 'stdnum/lib/cjs/cy/vat';
import { validate as CZ } from 'stdnum/lib/cjs/cz/dic';
import { validate as DE } from 'stdnum/lib/cjs/de/vat';
import { validate as DK } from 'stdnum/lib/cjs/dk/cvr';
import { validate as EE } from 'stdnum/lib/cjs/ee/kmkr';
import { validate as ES } from 'stdnum/lib/cjs/es/nif';
import { validate as FI } from 'stdnum/lib/cjs/fi/alv';
import { validate as FR } from 'stdnum/lib/cjs/fr/tva';
import { validate as GB } from 'stdnum/lib/cjs/gb/vat';
import { validate as GR } from 'stdnum/lib/cjs/gr/vat';
import { validate as HR } from 'stdnum/lib/cjs/hr/oib';
import { validate as HU } from 'stdnum/lib/cjs/hu/anum';
import { validate as IE } from 'stdnum/lib/cjs/ie/vat';
import { validate as IT } from 'stdnum/lib/cjs/it/iva';
import { validate as LT } from 'stdnum/lib/cjs/lt/pvm';
import { validate as LU } from 'stdnum/lib/cjs/lu/tva';
import { validate as LV } from 'stdnum/lib/cjs/lv/pvn';
import { validate as MT } from 'stdnum/lib/cjs/mt/vat';
import { validate as NL } from 'stdnum/lib/cjs/nl/btw';
import { validate as PL } from 'stdnum/lib/cjs/pl/nip';
import { validate as PT } from 'stdnum/lib/cjs/pt/nif';
import { validate as RO } from 'stdnum/lib/cjs/ro/cui';
import { validate as SE } from 'stdnum/lib/cjs/se/vat';
import { validate as SI } from 'stdnum/lib/cjs/si/ddv';
import { validate as SK } from 'stdnum/lib/cjs/sk/dph';

/** Validators of format and check digit of VAT numbers, by country (ISO 3166-1): the European Union and the United Kingdom. */
export const VAT_NUMBERS: Readonly<Record<string, typeof AT>> = {
  AT,
  BE,
  BG,
  CY,
  CZ,
  DE,
  DK,
  EE,
  ES,
  FI,
  FR,
  GB,
  GR,
  HR,
  HU,
  IE,
  IT,
  LT,
  LU,
  LV,
  MT,
  NL,
  PL,
  PT,
  RO,
  SE,
  SI,
  SK,
};
