import type { Ports } from '../own-nginx.ts'

/** Sixty sites as administrators write them, in ten styles and in both folders of Debian, and names to ask for. */
export function sixtySites(at: Ports, upstream: number): { files: Record<string, string>; names: string[] } {
  const files: Record<string, string> = {}
  const names: string[] = []
  for (let number = 0; number < 60; number += 1) {
    const style = STYLES[number % STYLES.length]
    const name = `site${number}.test`
    if (!style) continue
    const folder = number % 2 === 0 ? 'sites-enabled' : 'conf.d'
    files[`${folder}/${String(number).padStart(2, '0')}-${name}${folder === 'conf.d' ? '.conf' : ''}`] = style(
      at,
      name,
      upstream,
    )
    names.push(name, ...(number % 10 === 2 || number % 10 === 3 ? [`www.${name}`] : []))
  }
  files['conf.d/00-default.conf'] = `server {
  listen ${at.http} default_server;
  listen [::]:${at.http} default_server;
  return 444;
}
server {
  listen ${at.https} ssl default_server;
  listen [::]:${at.https} ssl default_server;
  ${pair(at)}
  ssl_protocols TLSv1.2;
  return 403;
}
`
  return { files, names }
}

type Style = (at: Ports, name: string, upstream: number) => string

const pair = ({ prefix }: Ports): string =>
  `ssl_certificate ${prefix}/own.crt;\n  ssl_certificate_key ${prefix}/own.key;`

const secure = (at: Ports): string => `listen ${at.https} ssl;\n  listen [::]:${at.https} ssl;\n  ${pair(at)}`

const STYLES: readonly Style[] = [
  // plain
  (at, name) => `server {\n  listen ${at.http};\n  server_name ${name};\n  return 200 "${name}\\n";\n}\n`,
  // a redirect to https
  (at, name) => `server {
  listen ${at.http};
  listen [::]:${at.http};
  server_name ${name};
  return 301 https://$host$request_uri;
}
server {
  ${secure(at)}
  server_name ${name};
  add_header Strict-Transport-Security "max-age=63072000" always;
  return 200 "secure ${name}\\n";
}
`,
  // wildcard names
  (at, name) =>
    `server { listen ${at.http}; ${secure(at)} server_name ${name} *.${name}; return 200 "wild $host\\n"; }\n`,
  // regular expressions
  (at, name) =>
    `server { listen ${at.http}; server_name ~^(?<part>[a-z]+)\\.${name.replace('.', '\\.')}$ ${name}; return 200 "matched $part\\n"; }\n`,
  // refused without an answer
  (at, name) => `server { listen ${at.http}; ${secure(at)} server_name ${name}; return 444; }\n`,
  // PHP, which does not run
  (at, name) => `server {
  listen ${at.http};
  server_name ${name};
  root ${at.prefix}/html;
  index index.php;
  location / { try_files $uri $uri/ /index.php?$args; }
  location ~ \\.php$ {
    fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
    fastcgi_pass unix:${at.prefix}/php-${name}.sock;
  }
}
`,
  // static files
  (at, name) => `server {
  listen ${at.http};
  ${secure(at)}
  server_name ${name};
  root ${at.prefix}/html;
  location / { try_files $uri $uri/index.html =404; expires 1h; }
}
`,
  // upstream
  (at, name, upstream) => `upstream ${name.replace('.', '_')} {
  server 127.0.0.1:${upstream};
  keepalive 4;
}
server {
  listen ${at.http};
  ${secure(at)}
  server_name ${name};
  location / { proxy_pass http://${name.replace('.', '_')}; proxy_set_header Host $host; }
}
`,
  // several listens, one of them an address of its own
  (at, name) => `server {
  listen ${at.http};
  listen 127.0.0.1:${at.http};
  ${secure(at)}
  server_name ${name} also.${name};
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_session_timeout 5m;
  return 200 "several ${name}\\n";
}
`,
  // IPv6 only
  (at, name) => `server { listen [::]:${at.http}; server_name ${name}; return 200 "six ${name}\\n"; }\n`,
]
