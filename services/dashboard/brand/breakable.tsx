import { Fragment, type ReactNode } from 'react';

/** Text in which links and addresses break after their punctuation before they break within a word. */
export function Breakable({ text }: { readonly text: string }): ReactNode {
  return text.split(/(?<=\s)/).map((word, at) =>
    /[@/]/.test(word)
      ? word.split(/(?<=\w[@./?&=_\]-])(?=\w)/).map((piece, index) => (
          <Fragment key={`${at} ${index}`}>
            {index > 0 && <wbr />}
            {piece}
          </Fragment>
        ))
      : word,
  );
}
