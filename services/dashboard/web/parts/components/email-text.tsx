import { Fragment, type ReactNode } from 'react';

/** An email address, network address or host that breaks after its punctuation, and within a word only if one word is too long. */
export function EmailText({ text }: { readonly text: string }): ReactNode {
  return (
    <bdi className="email-text">
      {text.split(/(?<=[@.:])/).map((part, index) => (
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </bdi>
  );
}
