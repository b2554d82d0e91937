/** What adopting a site means for one of its directives. `same`: an exposure answers as the directive makes the site answer. */
export type DirectiveVerdict =
  | { readonly kind: 'same' }
  | { readonly kind: 'lost' | 'refused'; readonly sentence: string }

const LOGS = 'The host has no log of its own any more.'
const TLS = 'TLS is set up for all hosts of Drawbridge together.'
const COMPRESSION = 'Answers are compressed as the http block says.'
const BUFFERS = 'Buffers and timeouts have the values of Drawbridge.'
const HEADERS = 'Headers of answers are passed on as the backend sends them.'
const CACHE = 'Answers are not cached any more.'
const LIMITS = 'Requests are not limited any more.'
const ERRORS = 'Error pages are those of the backend or of nginx.'
const RESTRICTS = 'It restricts who is answered, and the host would be open without it.'
const STATIC = 'It answers from files and not from a backend.'
const OTHER_PROTOCOL = 'Its backend does not speak HTTP.'
const PROGRAM = 'It answers by a program inside of nginx.'
const REWRITES = 'It decides by the request what is answered.'
const BACKEND_TLS = 'Its backend is asked by HTTPS with settings of its own.'

/** The first pattern that a name matches decides. */
const TABLE: readonly (readonly [RegExp, DirectiveVerdict['kind'], string?])[] = [
  [/^(log_not_found|log_subrequest|server_name_in_redirect|port_in_redirect|absolute_redirect|root|index)$/, 'same'],
  [/^(default_type|types|proxy_http_version|tcp_nodelay|tcp_nopush|sendfile|http2)$/, 'same'],
  [/^(access_log|error_log|rewrite_log)$/, 'lost', LOGS],
  [/^ssl_(verify_|client_|crl|ocsp|reject_|trusted_certificate$)/, 'refused', RESTRICTS],
  [/^(ssl_|http3|quic_)/, 'lost', TLS],
  [/^(gzip|gunzip|brotli|zstd)/, 'lost', COMPRESSION],
  [/^(error_page|recursive_error_pages|proxy_intercept_errors)$/, 'lost', ERRORS],
  [/^(add_header|add_trailer|more_|expires|etag|server_tokens|charset|override_charset)/, 'lost', HEADERS],
  [/^proxy_(hide_header|pass_header|ignore_headers|cookie_|headers_hash_)/, 'lost', HEADERS],
  [/^proxy_(cache|no_cache|store|force_ranges)/, 'lost', CACHE],
  [/^limit_(req|conn|rate)/, 'lost', LIMITS],
  [/^proxy_ssl_/, 'refused', BACKEND_TLS],
  [
    /^proxy_(connect|send|read)_timeout$|^proxy_(buffer|busy_|max_temp_|temp_|limit_rate|next_upstream|socket_)/,
    'lost',
    BUFFERS,
  ],
  [/^proxy_(buffering|request_buffering|ignore_client_abort|pass_request_)/, 'lost', BUFFERS],
  [
    /^(client_|keepalive|send_timeout|send_lowat|large_client_header|connection_pool|request_pool|lingering_)/,
    'lost',
    BUFFERS,
  ],
  [
    /^(resolver|reset_timedout_connection|output_buffers|postpone_output|aio|directio|read_ahead|open_file_cache)/,
    'lost',
    BUFFERS,
  ],
  [
    /^(underscores_in_headers|ignore_invalid_headers|merge_slashes|msie_|chunked_transfer_encoding|max_ranges)/,
    'lost',
    BUFFERS,
  ],
  [
    /^(allow|deny|satisfy|auth_|internal$|limit_except|valid_referers|secure_link|geo|modsecurity|naxsi)/,
    'refused',
    RESTRICTS,
  ],
  [/^(fastcgi|uwsgi|scgi|grpc|memcached)_/, 'refused', OTHER_PROTOCOL],
  [/^(try_files|alias|autoindex|random_index|dav_|mp4|flv|hls|empty_gif|stub_status|slice)/, 'refused', STATIC],
  [/(_by_lua|^lua_|^js_|^perl|^passenger|^content_by)/, 'refused', PROGRAM],
  [/^(rewrite|if|break|return|mirror|sub_filter|addition_|ssi|image_filter|xslt_|split_clients)/, 'refused', REWRITES],
]

const UNKNOWN = 'Drawbridge does not know what it does.'

export function verdictOf(name: string): DirectiveVerdict {
  const [, kind, sentence = UNKNOWN] = TABLE.find(([pattern]) => pattern.test(name)) ?? [undefined, 'refused']
  return kind === 'same' ? { kind } : { kind, sentence }
}

const FORWARDED = 'The backend gets the headers of the request that Drawbridge sets, and no others.'

/** The headers of a request that an exposure sets itself. */
const SET_ALREADY =
  /^(x-real-ip|x-forwarded-(for|proto|host|scheme)|upgrade|connection|forwarded|proxy|x-scheme|range|if-range)$/
const CREDENTIALS =
  /^(authorization|proxy-authorization|cookie|remote-user|x-remote-user|x-auth|x-api-key|x-forwarded-user)/

/** What becomes of a `proxy_set_header`. */
export function requestHeaderVerdict(header: string, value: string, host: string): DirectiveVerdict {
  const name = header.toLowerCase()
  if (name === 'host') {
    const isVisitors = ['$host', '$http_host', '$server_name', '$host:$server_port', host].includes(value.toLowerCase())
    return isVisitors
      ? { kind: 'same' }
      : { kind: 'refused', sentence: 'The backend gets another Host than the visitor sends.' }
  }
  if (CREDENTIALS.test(name))
    return { kind: 'refused', sentence: 'The backend gets a credential that an exposure does not have.' }
  return SET_ALREADY.test(name) ? { kind: 'same' } : { kind: 'lost', sentence: FORWARDED }
}
