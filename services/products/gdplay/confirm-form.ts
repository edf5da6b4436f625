import { Parser } from 'htmlparser2';

/** Google has used both ids. */
const FORM_IDS = new Set(['download-form', 'downloadForm']);
const MAX_FIELDS = 20;

interface Form {
  readonly action: string;
  readonly fields: Map<string, string>;
}

function readForm(html: string): Form | undefined {
  let form: Form | undefined;
  let isInside = false;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'form' && !form && FORM_IDS.has(attributes['id'] ?? '')) {
        form = { action: attributes['action'] ?? '', fields: new Map() };
        isInside = true;
      }
      if (!form || !isInside || name !== 'input' || attributes['type']?.toLowerCase() !== 'hidden') return;
      const field = attributes['name'] ?? '';
      if (field !== '' && form.fields.size < MAX_FIELDS) form.fields.set(field, attributes['value'] ?? '');
    },
    onclosetag(name) {
      if (name === 'form') isInside = false;
    },
  });
  parser.end(html);
  return form;
}

/**
 * The address behind "Download anyway" on the page that warns about a missing virus scan. The caller must judge the host.
 * @param page address of the page
 * @returns undefined when the page has no such form, or its form is for another file
 */
export function findConfirmedAddress(html: string, page: URL, id: string): string | undefined {
  const form = readForm(html);
  if (!form || !URL.canParse(form.action, page.href)) return undefined;
  const address = new URL(form.action, page);
  for (const [name, value] of form.fields) address.searchParams.set(name, value);
  return address.searchParams.get('id') === id ? address.href : undefined;
}
