import { Fragment, type ReactNode } from 'react';

const SIGNS = /(?<=\w[@./?&=_\]-])(?=\w)/;
const DOTS = /(?<=\.)(?=\w)/;

interface BreakableProps {
  readonly text: string;
  /** Only behind dots, which part a long name. */
  readonly isName?: boolean;
}

/** Text whose links, addresses and names of members break behind their signs before they break within a word. */
export function Breakable({ text, isName = false }: BreakableProps): ReactNode {
  return text.split(/(?<=\s)/).map((word, at) =>
    word.split(isName ? DOTS : SIGNS).map((piece, index) => (
      <Fragment key={`${at} ${index}`}>
        {index > 0 && <wbr />}
        {piece}
      </Fragment>
    )),
  );
}
