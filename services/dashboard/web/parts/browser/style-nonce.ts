/** The nonce that this page's policy requires of styles made at run time; undefined when it requires none. */
export const styleNonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content;

// The name under which the part of Mantine's dialogs that stops the page from scrolling looks for the nonce.
Object.assign(window, { __webpack_nonce__: styleNonce });
