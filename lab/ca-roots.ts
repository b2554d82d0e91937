const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** PEM text with every certificate of both, each once. Old roots stay, because certificates that they signed are still in use. */
export function mergeRoots(known: string, fresh: string): string {
  const roots = new Set([...certificatesIn(known), ...certificatesIn(fresh)])
  return [...roots].map((root) => `${root}\n`).join('')
}

const certificatesIn = (pem: string): string[] => pem.match(CERTIFICATE) ?? []
