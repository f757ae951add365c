"""A generative adversarial network on numbers: two optimizers, detached fakes, alternating steps."""

import torch
import torch.nn as nn

torch.manual_seed(42)
latent_dim, batch_size = 3, 8

generator = nn.Sequential(
    nn.Linear(latent_dim, 8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(8, 2), nn.Tanh()
)
discriminator = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1), nn.Sigmoid())


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight.data, 0.0, 0.2)
        nn.init.constant_(m.bias.data, 0)


generator.apply(weights_init)
discriminator.apply(weights_init)

criterion = nn.BCELoss()
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
real_label, fake_label = 1.0, 0.0

for step in range(2):
    # Discriminator: real up, fake down.
    discriminator.zero_grad()
    real = 0.1 * torch.randn(batch_size, 2) + 0.5
    label = torch.full((batch_size,), real_label)
    output = discriminator(real).view(-1)
    loss_real = criterion(output, label)
    loss_real.backward()
    noise = torch.randn(batch_size, latent_dim)
    fake = generator(noise)
    label.fill_(fake_label)
    output = discriminator(fake.detach()).view(-1)
    loss_fake = criterion(output, label)
    loss_fake.backward()
    optimizer_d.step()

    # Generator: make the discriminator say real.
    generator.zero_grad()
    label.fill_(real_label)
    output = discriminator(fake).view(-1)
    loss_g = criterion(output, label)
    loss_g.backward()
    optimizer_g.step()
    print(step, (loss_real + loss_fake).item() > 0, loss_g.item() > 0)
