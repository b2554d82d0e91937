/** What nginx writes goes to its prefix, so that it can be tested by any user. For the main and the http context. */
export const NOTHING_OF_ROOT = {
  main: 'pid nginx.pid; error_log stderr;',
  http: [
    'access_log off;',
    ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path temp-${kind};`),
  ].join(' '),
}
