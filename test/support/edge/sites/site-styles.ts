/** What a hand-written site is made of. */
interface WrittenSite {
  readonly host: string
  /** `address:port` of its backend. */
  readonly backend: string
  readonly http: number
  readonly https: number
  readonly certificateFile: string
  readonly keyFile: string
}

export interface SiteStyle {
  readonly name: string
  readonly tls: boolean
  /** Whether it has something that an exposure cannot say. */
  readonly losesSomething: boolean
  readonly text: (site: WrittenSite) => string
}

const HEADERS = `    proxy_set_header Host $host;
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $scheme;
`

const certificate = ({ certificateFile, keyFile }: WrittenSite) =>
  `  ssl_certificate ${certificateFile};\n  ssl_certificate_key ${keyFile};\n`

const redirecting = ({ host, http, https }: WrittenSite) => `server {
  listen ${http};
  server_name ${host};
  return 301 https://$host${https === 443 ? '' : `:${https}`}$request_uri;
}
`

/** Ten ways in which people write a site that passes everything on to one backend. */
export const SITE_STYLES: readonly SiteStyle[] = [
  {
    name: 'short',
    tls: false,
    losesSomething: false,
    text: ({ host, backend, http }) =>
      `server { listen ${http}; server_name ${host}; location / { proxy_pass http://${backend}; proxy_set_header Host $host; } }\n`,
  },
  {
    name: 'headers one by one',
    tls: false,
    losesSomething: false,
    text: ({ host, backend, http }) => `# ${host}, written by hand
server {
  listen ${http};
  listen [::]:${http};
  server_name ${host};

  location / {
    proxy_pass http://${backend}/;
${HEADERS}  }
}
`,
  },
  {
    name: 'certbot',
    tls: true,
    losesSomething: true,
    text: (site) => `server {
  server_name ${site.host};
  location / {
    proxy_pass http://${site.backend};
${HEADERS}  }
  listen ${site.https} ssl; # managed by Certbot
${certificate(site)}  ssl_session_cache shared:le_nginx_SSL:10m;
}
server {
  if ($host = ${site.host}) {
    return 301 https://$host${site.https === 443 ? '' : `:${site.https}`}$request_uri;
  } # managed by Certbot
  listen ${site.http};
  server_name ${site.host};
  return 404; # managed by Certbot
}
`,
  },
  {
    name: 'redirect to https',
    tls: true,
    losesSomething: false,
    text: (site) => `${redirecting(site)}
server {
  listen ${site.https} ssl;
  server_name ${site.host};
${certificate(site)}
  location / {
    proxy_pass http://${site.backend};
${HEADERS}  }
}
`,
  },
  {
    name: 'upstream',
    tls: false,
    losesSomething: false,
    text: ({ host, backend, http }) => `upstream up_${host.replaceAll('.', '_')} {
  server ${backend} max_fails=3;
  keepalive 8;
}
server {
  listen ${http};
  server_name ${host};
  location / {
    proxy_pass http://up_${host.replaceAll('.', '_')};
${HEADERS}  }
}
`,
  },
  {
    name: 'variables, as a proxy manager writes them',
    tls: false,
    losesSomething: true,
    text: ({ host, backend, http }) => `server {
  set $forward_scheme http;
  set $server "${backend.slice(0, backend.lastIndexOf(':'))}";
  set $port ${backend.slice(backend.lastIndexOf(':') + 1)};
  listen ${http};
  server_name ${host};
  access_log off;
  location / {
    proxy_pass $forward_scheme://$server:$port;
${HEADERS}  }
}
`,
  },
  {
    name: 'websocket',
    tls: false,
    losesSomething: false,
    text: ({ host, backend, http }) => `server {
  listen ${http};
  server_name ${host};
  location / {
    proxy_pass http://${backend};
    proxy_http_version 1.1;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection "upgrade";
    proxy_read_timeout 300s;
${HEADERS}  }
}
`,
  },
  {
    name: 'logs, compression and headers of its own',
    tls: false,
    losesSomething: true,
    text: ({ host, backend, http }) => `server {
  listen ${http};
  server_name ${host};
  access_log off;
  gzip on;
  client_max_body_size 10m;
  add_header X-Frame-Options SAMEORIGIN;
  location / {
    proxy_pass http://${backend};
${HEADERS}  }
}
`,
  },
  {
    name: 'one block for both',
    tls: true,
    losesSomething: false,
    text: (site) => `server {
  listen ${site.http};
  listen ${site.https} ssl;
  server_name ${site.host};
${certificate(site)}  if ($scheme = http) { return 301 https://$server_name${site.https === 443 ? '' : `:${site.https}`}$request_uri; }
  location / {
    proxy_pass http://${site.backend};
${HEADERS}  }
}
`,
  },
  {
    name: 'several paths of one backend',
    tls: false,
    losesSomething: true,
    text: ({ host, backend, http }) => `server {
  listen ${http};
  server_name ${host};
  proxy_set_header Host $host;
  location / { proxy_pass http://${backend}; }
  location /api/ { proxy_pass http://${backend}; }
  location = /favicon.ico { access_log off; log_not_found off; }
}
`,
  },
]
