import { createRoot } from 'react-dom/client'

const root = document.getElementById('page')
if (root) createRoot(root).render(<h1>Drawbridge</h1>)
