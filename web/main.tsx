import './page.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { isWorthRetrying } from './api/client.ts'
import { Shell } from './shell/Shell.tsx'
import { restoreTheme } from './shell/theme.ts'

restoreTheme()

const queries = new QueryClient({
  defaultOptions: {
    queries: { networkMode: 'always', retry: (failures, fault) => failures < 2 && isWorthRetrying(fault) },
    mutations: { networkMode: 'always' },
  },
})

const root = document.getElementById('page')
if (root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Shell />
      </QueryClientProvider>
    </StrictMode>,
  )
