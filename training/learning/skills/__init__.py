"""What the policy can do in each environment: skills that make actions from what the text so far says."""
