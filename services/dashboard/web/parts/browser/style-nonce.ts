/** What the policy of this page asks of every style that is made while the page runs; undefined where it asks nothing. */
export const styleNonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content;

// The name by which the part of Mantine's dialogs that holds the page still asks for it.
Object.assign(window, { __webpack_nonce__: styleNonce });
