import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from '@/api/queries';
import { reloadWhenBuiltAnew } from '@/app/builtAnew';
import { Gate } from '@/app/Gate';
import { Shell } from '@/app/Shell';
import { loadLanguage, wantedLanguage } from '@/text/text';
import { watchTheme } from '@/theme/theme';
import '@/theme/tokens.css';
import '@/theme/base.css';

watchTheme();
reloadWhenBuiltAnew();
await loadLanguage(wantedLanguage());

const root = document.getElementById('root');
if (!root) throw new Error('The page has no root.');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Gate>
        <Shell />
      </Gate>
    </QueryClientProvider>
  </StrictMode>,
);
