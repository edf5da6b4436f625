import { type StoredFile } from './drive-files';

function page(title: string, body: string): string {
  return `<!DOCTYPE html><html><head><title>${title}</title><meta http-equiv="content-type" content="text/html; charset=utf-8"/></head><body>${body}</body></html>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** What Google asks before it hands out a file that it did not scan. */
export function confirmationPage(file: StoredFile, action: string): string {
  return page(
    'Google Drive - Virus scan warning',
    `<div class="uc-main"><div id="uc-text"><p class="uc-warning-caption">Google Drive can't scan this file for viruses.</p>` +
      `<p class="uc-warning-subcaption"><span class="uc-name-size"><a href="/open?id=${file.id}">${escaped(file.name)}</a></span> is too large for Google to scan for viruses. Would you still like to download this file?</p>` +
      `<form id="download-form" action="${escaped(action)}" method="get"><input type="submit" id="uc-download-link" class="goog-inline-block jfk-button" value="Download anyway"/>` +
      `<input type="hidden" name="id" value="${file.id}"><input type="hidden" name="export" value="download">` +
      `<input type="hidden" name="confirm" value="t"><input type="hidden" name="uuid" value="5a3c1d1e-0000-4000-8000-000000000001"></form></div></div>`,
  );
}

export function quotaPage(): string {
  return page(
    'Google Drive - Quota exceeded',
    `<div class="uc-main"><p class="uc-error-caption">Sorry, you can't view or download this file at this time.</p>` +
      `<p class="uc-error-subcaption">Too many users have viewed or downloaded this file recently. Please try accessing the file again later.</p></div>`,
  );
}

export function missingPage(): string {
  return page(
    'Error 404 (Not Found)!!1',
    '<p><b>404.</b> <ins>That’s an error.</ins></p><p>The requested URL was not found on this server.</p>',
  );
}

/** A page that is not expected here. */
export function oddPage(): string {
  return page('Sandbox', '<p>Nothing to see.</p><script>document.title = "never run"</script>');
}
