import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../model/errors.ts'
import type { App } from '../app.ts'
import type { ProblemBody } from '../guard/problem.ts'

/** Every path of the web page. The page selects the screen from the path. */
const SCREENS = [
  '/',
  '/hosts/:host',
  '/hosts/:host/details',
  '/network',
  '/certificates',
  '/activity',
  '/plan',
  '/plans',
  '/plans/:planId',
  '/plans/:planId/change',
  '/help',
]
const ASSET_NAME = /^[\w-]+\.[\w.]+$/
const A_YEAR_MS = 365 * 24 * 3600 * 1000

/** Call it before the routes that send files from the folder. The folder also has a compressed form of each file. */
export async function registerPage(app: App, folder: string): Promise<void> {
  await app.register(fastifyStatic, { root: folder, serve: false, preCompressed: true, suppressWarning: true })
}

/** index.html is revalidated on each request. Assets have a hash of their content in the name and are cached for a year. */
export function pageRoutes(app: App, folder: string): void {
  const screen = async (_request: unknown, reply: FastifyReply) => {
    if (!existsSync(join(folder, 'index.html'))) throw notBuilt()
    return reply.header('cache-control', 'no-cache').sendFile('index.html', { cacheControl: false })
  }
  const urls = SCREENS.flatMap((url) => (url === '/' ? [url] : [url, `${url}/`]))
  for (const url of urls) app.get(url, { schema: { hide: true } }, screen)

  app.get<{ Params: { file: string } }>('/assets/:file', { schema: { hide: true } }, async (request, reply) => {
    const { file } = request.params
    if (!ASSET_NAME.test(file) || !existsSync(join(folder, 'assets', file))) {
      throw new Problem('not_found', 'This path does not exist.')
    }
    return reply.sendFile(`assets/${file}`, { immutable: true, maxAge: A_YEAR_MS })
  })
}

/** Whether a person has opened an address of the page in a browser. */
const isOpened = ({ method, url, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '') && !NO_PAGES.test(url)

/**
 * The answer to a browser that opens an unknown address: the page, which says so. While the service is overloaded, a small page
 * that needs nothing of it. Everything else, and every other client, gets the problem itself.
 */
export function problemPage(folder: string) {
  return (request: FastifyRequest, reply: FastifyReply, problem: ProblemBody): FastifyReply | undefined => {
    if (!isOpened(request)) return undefined
    const isUnknown = problem.code === 'not_found' && existsSync(join(folder, 'index.html'))
    if (!isUnknown && problem.code !== 'unavailable') return undefined
    reply.status(problem.status).header('cache-control', 'no-store')
    if (isUnknown) return reply.sendFile('index.html', { cacheControl: false })
    return reply.type('text/html; charset=utf-8').send(smallPage(problem))
  }
}

function smallPage({ status, title, detail, retryAfter }: ProblemBody): string {
  const [heading, sentence] = [title, detail].map(asHtml)
  const again = retryAfter === undefined ? '' : `<meta http-equiv="refresh" content="${Number(retryAfter)}">`
  const soon =
    retryAfter === undefined
      ? '<p><a href="">Try again</a></p>'
      : `<p>This page is loaded again in ${Number(retryAfter)} seconds. <a href="">Try again now</a></p>`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${again}
<title>${heading} – Drawbridge</title></head>
<body><h1>${heading}</h1><p>${sentence}</p>${soon}<p>HTTP ${status}</p></body></html>
`
}

const asHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** What is for programs, or has files of its own. */
const NO_PAGES = /^\/(?:api|assets|docs|metrics|mcp|livez|readyz|\.well-known)(?:[/?]|$)/

const notBuilt = () =>
  new Problem('not_found', 'The web page is not built in this installation.', {
    nextAction: 'Run npm run build. The API works without the page; /docs describes the API.',
  })
