import { Component, type ErrorInfo, type ReactNode } from 'react';
import { Failure } from '@/components/Basics';

/** A screen that breaks says so; navigation stays. */
export class Boundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null as Error | null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override componentDidCatch(error: Error, info: ErrorInfo) {
    console.error(error, info.componentStack);
  }

  override render() {
    const { error } = this.state;
    return error ? <Failure isPage error={error} retry={() => this.setState({ error: null })} /> : this.props.children;
  }
}
